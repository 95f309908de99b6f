//! A module opens with its story: who acts, in what order, what is deliberately absent.
//!
//! Only its presence can be checked here; whether it tells the truth is for the reader.

use super::Finding;
use super::files::SourceFile;

/// Rust files begin with `//!`, scripts with a comment.
pub(super) fn opens_modules(files: &[SourceFile]) -> Vec<Finding> {
    files
        .iter()
        .filter(|file| {
            file.is_rust() && !file.text.starts_with("//!") || file.is_script() && !opens(&file.text)
        })
        .map(|file| Finding::in_file(&file.path, "does not open with the story of the module"))
        .collect()
}

/// A script may need its interpreter's line first.
fn opens(script: &str) -> bool {
    let mut lines = script.lines().skip_while(|line| line.starts_with("#!"));
    lines.next().is_some_and(|line| line.starts_with("//") || line.starts_with("/*"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_without_a_story_is_found() {
        for (path, text) in [
            ("a/src/b.rs", "use std::fs;\n"),
            ("a/src/b.rs", "// Not a module comment.\n"),
            ("a/src/b.rs", ""),
            ("pkg/src/b.ts", "export {};\n"),
            ("bench/b.mjs", "#!/usr/bin/env node\nimport 'node:fs';\n"),
        ] {
            assert_eq!(opens_modules(&[SourceFile::new(path, text)]).len(), 1, "{path}: {text}");
        }
        for (path, text) in [
            ("a/src/b.rs", "//! Story.\n"),
            ("pkg/src/b.ts", "// Story.\n"),
            ("bench/b.mjs", "#!/usr/bin/env node\n// Story.\n"),
            ("a/Cargo.toml", "[package]\n"),
        ] {
            assert_eq!(opens_modules(&[SourceFile::new(path, text)]), [], "{path}: {text}");
        }
    }
}
