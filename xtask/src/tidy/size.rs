//! One subject per file: lengths that stay readable, names that say what the subject is.

use super::files::SourceFile;
use super::{Finding, Weight};

/// A good file is below this.
const LINES_GOOD: usize = 300;
/// No file is above this.
const LINES_MAX: usize = 500;

/// Columns of a comment. rustfmt leaves comments alone.
const COMMENT_COLUMNS: usize = 120;

/// Names under which anything gathers.
const NAMELESS: [&str; 8] = ["util", "utils", "common", "helper", "helpers", "misc", "shared", "stuff"];

/// Sources above 500 lines are faults, above 300 they are mentioned.
pub(super) fn lengths(files: &[SourceFile]) -> Vec<Finding> {
    let sources = files.iter().filter(|file| file.is_rust() || file.is_script());
    sources
        .filter_map(|file| {
            let lines = file.text.lines().count();
            let (weight, bound) = if lines > LINES_MAX {
                (Weight::Fault, LINES_MAX)
            } else if lines > LINES_GOOD {
                (Weight::Advice, LINES_GOOD)
            } else {
                return None;
            };
            let message = format!("{lines} lines, more than {bound}: is this one subject?");
            Some(Finding { place: file.path.clone(), message, weight })
        })
        .collect()
}

/// A comment in Rust fits a window, unless it is the row of a table or one long word, as an address is.
pub(super) fn comments(files: &[SourceFile]) -> Vec<Finding> {
    let too_long = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().take(3).collect();
        let is_comment = words.first().is_some_and(|begin| begin.starts_with("//"));
        let may_be_long = words.len() < 3 || words.get(1) == Some(&"|");
        line.chars().count() > COMMENT_COLUMNS && is_comment && !may_be_long
    };
    let lines = files
        .iter()
        .filter(|file| file.is_rust())
        .flat_map(|file| file.lines().map(move |line| (file, line)));
    lines
        .filter(|(_, (_, line))| too_long(line))
        .map(|(file, (number, _))| Finding::in_line(file, number, "a comment of more than 120 columns"))
        .collect()
}

/// A file is named after its subject.
pub(super) fn names(files: &[SourceFile]) -> Vec<Finding> {
    let sources = files.iter().filter(|file| file.is_rust() || file.is_script());
    sources
        .filter(|file| NAMELESS.contains(&file.name().split('.').next().unwrap_or_default()))
        .map(|file| Finding::in_file(&file.path, "name the thing that is in this file"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_comment_is_found() {
        let comment = |begin: &str, word: &str| {
            SourceFile::new("a/src/b.rs", &format!("{begin} {}\n", word.repeat(60)))
        };
        for begin in ["//!", "    ///", "//"] {
            assert_eq!(comments(&[comment(begin, "ab ")]).len(), 1, "{begin}");
            assert_eq!(comments(&[comment(begin, "ab")]), [], "{begin}");
        }
        assert_eq!(comments(&[comment("//! |", "ab ")]), []);
        assert_eq!(comments(&[comment("let x =", "ab "), SourceFile::new("a.md", &"a ".repeat(99))]), []);
    }

    fn of_length(lines: usize) -> SourceFile {
        SourceFile::new("a/src/b.rs", &"x\n".repeat(lines))
    }

    #[test]
    fn length_is_advice_then_a_fault() {
        assert_eq!(lengths(&[of_length(300)]), []);
        assert_eq!(lengths(&[of_length(301)]).first().map(|found| found.weight), Some(Weight::Advice));
        assert_eq!(lengths(&[of_length(500)]).first().map(|found| found.weight), Some(Weight::Advice));
        assert_eq!(lengths(&[of_length(501)]).first().map(|found| found.weight), Some(Weight::Fault));
    }

    #[test]
    fn only_sources_are_measured() {
        assert_eq!(lengths(&[SourceFile::new("docs/contract.md", &"x\n".repeat(2000))]), []);
    }

    #[test]
    fn nameless_files_are_found() {
        for path in ["a/src/util.rs", "a/src/common.rs", "pkg/src/helpers.ts", "utils.mjs"] {
            assert_eq!(names(&[SourceFile::new(path, "")]).len(), 1, "{path}");
        }
        for path in ["a/src/clock.rs", "a/src/common_log.rs", "docs/common.md"] {
            assert_eq!(names(&[SourceFile::new(path, "")]), [], "{path}");
        }
    }
}
