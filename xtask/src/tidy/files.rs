//! The files that the rules look at: everything that git does not ignore and that is text.

use std::path::Path;

use anyhow::{Context as _, Result};
use ignore::WalkBuilder;

/// One file with its text.
pub(super) struct SourceFile {
    /// Relative to the root, with `/` between the parts.
    pub(super) path: String,
    pub(super) text: String,
}

/// Which lines of a file.
#[derive(Clone, Copy)]
pub(super) enum Part {
    Whole,
    /// Those before the test module of a Rust file, none of a test file.
    Shipped,
    /// The others.
    Tests,
}

impl SourceFile {
    /// A file as the tests of the rules write it.
    #[cfg(test)]
    pub(super) fn new(path: &str, text: &str) -> Self {
        Self { path: path.to_owned(), text: text.to_owned() }
    }

    /// The part behind the last full stop of the name.
    pub(super) fn extension(&self) -> &str {
        self.name().rsplit_once('.').map_or("", |(_, extension)| extension)
    }

    /// The last part of the path.
    pub(super) fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }

    pub(super) fn is_rust(&self) -> bool {
        self.extension() == "rs"
    }

    /// JavaScript or TypeScript.
    pub(super) fn is_script(&self) -> bool {
        matches!(self.extension(), "js" | "mjs" | "cjs" | "ts" | "mts" | "cts")
    }

    /// Whether the whole file is there for tests.
    pub(super) fn is_test(&self) -> bool {
        let folder = self.path.split('/').any(|part| part == "tests" || part == "test");
        folder || self.name() == "tests.rs" || self.name().contains(".test.")
    }

    /// The lines, counted from 1.
    pub(super) fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text.lines().enumerate().map(|(index, line)| (index + 1, line))
    }

    /// Those of this part.
    pub(super) fn lines_of(&self, part: Part) -> impl Iterator<Item = (usize, &str)> {
        let tests_begin = self.tests_begin();
        self.lines().filter(move |(number, _)| match part {
            Part::Whole => true,
            Part::Shipped => *number < tests_begin,
            Part::Tests => *number >= tests_begin,
        })
    }

    fn tests_begin(&self) -> usize {
        if self.is_test() {
            return 0;
        }
        let lines: Vec<&str> = self.text.lines().map(str::trim).collect();
        let begins = lines.iter().enumerate().position(|(at, line)| {
            let item = lines.iter().skip(at).find(|line| !line.starts_with("#["));
            *line == "#[cfg(test)]" && item.is_some_and(|item| item.contains("mod ") && item.contains('{'))
        });
        begins.map_or(usize::MAX, |index| index + 1)
    }
}

/// Reads all of them, in the order of their paths.
pub(super) fn load(root: &Path) -> Result<Vec<SourceFile>> {
    // `.ci` and `.cargo` are part of the project; git's own folder is not.
    let walk = WalkBuilder::new(root)
        .hidden(false)
        .require_git(false)
        .filter_entry(|entry| entry.file_name() != ".git")
        .build();
    let mut files = Vec::new();
    for entry in walk {
        let entry = entry.context("the checkout cannot be walked")?;
        if !entry.file_type().is_some_and(|kind| kind.is_file()) {
            continue;
        }
        let bytes = std::fs::read(entry.path())
            .with_context(|| format!("{} cannot be read", entry.path().display()))?;
        // What is not text has no rule here.
        let Ok(text) = String::from_utf8(bytes) else { continue };
        let path = entry.path().strip_prefix(root).unwrap_or(entry.path());
        let path = path.to_string_lossy().replace(std::path::MAIN_SEPARATOR, "/");
        files.push(SourceFile { path, text });
    }
    files.sort_by(|left, right| left.path.cmp(&right.path));
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_a_test_file() {
        for path in ["tests/src/lib.rs", "authority/tests/http.rs", "pkg/test/a.test.mjs", "a/src/b/tests.rs"]
        {
            assert!(SourceFile::new(path, "").is_test(), "{path}");
        }
        for path in ["authority/src/http/mod.rs", "pkg/src/index.ts", "a/src/testing.rs"] {
            assert!(!SourceFile::new(path, "").is_test(), "{path}");
        }
    }

    #[test]
    fn a_test_module_ends_what_is_shipped() {
        let file = SourceFile::new("a/src/b.rs", "fn a() {}\n#[cfg(test)]\nmod tests {}\n");
        assert_eq!(file.lines_of(Part::Shipped).collect::<Vec<_>>(), [(1, "fn a() {}")]);
        assert_eq!(
            file.lines_of(Part::Tests).collect::<Vec<_>>(),
            [(2, "#[cfg(test)]"), (3, "mod tests {}")]
        );
    }
}
