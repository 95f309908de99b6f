//! Words that do not belong in what is finished: sleeps in tests, notes to oneself, paths of one's machine.

use super::files::{Part, SourceFile};
use super::{Finding, in_lines};

// Written in two parts, so that this file does not find itself.
const SLEEPS: [&str; 4] = [
    concat!("sle", "ep("),
    concat!("sle", "ep_until("),
    concat!("timers/", "promises"),
    concat!("setTimeout(", "resolve"),
];
const UNFINISHED: [&str; 5] = [
    concat!("TO", "DO"),
    concat!("FIX", "ME"),
    concat!("XX", "X:"),
    concat!("todo", "!("),
    concat!("unimplemented", "!("),
];
const MACHINE_PATHS: [&str; 3] = [concat!("/ro", "ot/"), concat!("/ho", "me/"), concat!("/wo", "rk/")];

/// Tests wait for a condition, not for time to pass.
pub(super) fn no_sleep_in_tests(files: &[SourceFile]) -> Vec<Finding> {
    let sources = files.iter().filter(|file| file.is_rust() || file.is_script());
    in_lines(sources, Part::Tests, "a test waits for a condition, not for time to pass", |line| {
        SLEEPS.iter().any(|sleep| code(line).contains(sleep))
    })
}

/// Work is finished or filed as an issue, not noted in the source. Documents may speak of such notes.
pub(super) fn no_unfinished_work(files: &[SourceFile]) -> Vec<Finding> {
    let sources = files.iter().filter(|file| file.extension() != "md");
    in_lines(sources, Part::Whole, "finish this, or file it as an issue", |line| {
        UNFINISHED.iter().any(|word| line.contains(word))
    })
}

/// Nothing depends on, or tells of, the machine it was written on.
pub(super) fn no_machine_paths(files: &[SourceFile]) -> Vec<Finding> {
    in_lines(files.iter(), Part::Whole, "a path of somebody's machine", |line| {
        MACHINE_PATHS.iter().any(|path| {
            line.match_indices(path).any(|(at, _)| {
                // Inside a longer path or a URL it is an ordinary name.
                !line[..at].ends_with(|before: char| before.is_alphanumeric() || "_-.}".contains(before))
            })
        })
    })
}

/// The line without a comment at its end.
fn code(line: &str) -> &str {
    line.split_once("//").map_or(line, |(code, _)| code)
}

#[cfg(test)]
mod tests {
    use super::super::places;
    use super::*;

    #[test]
    fn sleeps_are_found_in_tests_only() {
        let text = format!("fn a() {{}}\n#[cfg(test)]\nmod tests {{ fn b() {{ {}1); }} }}\n", SLEEPS[0]);
        let shipped = SourceFile::new("a/src/b.rs", &format!("{}1);", SLEEPS[0]));
        let script = SourceFile::new("pkg/test/b.test.mjs", &format!("import 'node:{}'", SLEEPS[2]));
        let comment = SourceFile::new("a/tests/b.rs", &format!("a(); // no {}1)", SLEEPS[0]));
        let found = no_sleep_in_tests(&[SourceFile::new("a/src/b.rs", &text), shipped, script, comment]);
        assert_eq!(places(found), ["a/src/b.rs:3", "pkg/test/b.test.mjs:1"]);
    }

    #[test]
    fn unfinished_work_is_found() {
        for word in UNFINISHED {
            let file = SourceFile::new("a/src/b.rs", &format!("\n// {word}\n"));
            assert_eq!(places(no_unfinished_work(&[file])), ["a/src/b.rs:2"], "{word}");
        }
        assert_eq!(no_unfinished_work(&[SourceFile::new("a.rs", "What is to do, and todos of others")]), []);
    }

    #[test]
    fn machine_paths_are_found_and_ordinary_paths_are_not() {
        for path in MACHINE_PATHS {
            for line in
                [format!("{path}me"), format!("\"{path}me\""), format!("file://{path}me"), format!("={path}")]
            {
                assert_eq!(no_machine_paths(&[SourceFile::new("a.md", &line)]).len(), 1, "{line}");
            }
            for line in
                [format!("https://example.com{path}"), format!("net{path}"), format!("${{base}}{path}")]
            {
                assert_eq!(no_machine_paths(&[SourceFile::new("a.md", &line)]), [], "{line}");
            }
        }
    }
}
