//! Sections of the contract that code names: each is a heading or a numbered point of `docs/contract.md`.
//!
//! Code says `contract 4.2`, `contract 18.4-8`, `contract 12 T1, 15.9` or `contract 3.9 rows 9 to 13`; a list goes on
//! over the ends of lines. A point of the document is the number that a heading begins with (or several: `3.2, 3.3`),
//! and the first cell of a table's row: `15.9`, `T1`, or `8` below the heading `18.4`. Rows and rules of a section are
//! not looked for.

use std::collections::BTreeSet;

use super::Finding;
use super::files::SourceFile;

/// The contract, as users read it.
const DOCUMENT: &str = "docs/contract.md";

/// What stands before the number of a section.
const NAMED: &str = "contract ";

/// What stands between two numbers of a list.
const BETWEEN: [&str; 5] = [", ", " and ", " or ", " to ", "–"];

/// What may follow a section, with a number or a range of its own.
const PARTS: [&str; 4] = [" rows ", " row ", " rules ", " rule "];

/// Every section that is named exists.
pub(super) fn named_exist(files: &[SourceFile]) -> Vec<Finding> {
    let document = files.iter().find(|file| file.path == DOCUMENT);
    let points = document.map(|file| points(&file.text)).unwrap_or_default();
    let sources = files.iter().filter(|file| file.is_rust() || file.is_script());
    sources
        .flat_map(|file| named(file).into_iter().map(move |(line, point)| (file, line, point)))
        .filter(|(_, _, point)| !points.contains(point))
        .map(|(file, line, point)| {
            Finding::in_line(
                file,
                line,
                format!("names {point} of the contract, which {DOCUMENT} does not have"),
            )
        })
        .collect()
}

/// All numbers of headings and of rows of tables.
fn points(document: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut section = String::new();
    for line in document.lines() {
        if let Some(heading) = line.strip_prefix('#') {
            let numbers = list(heading.trim_start_matches('#').trim_start());
            section = numbers.first().cloned().unwrap_or_default();
            found.extend(numbers);
        } else if let Some((cell, _)) = line.strip_prefix("| ").and_then(|row| row.split_once(" |")) {
            let is_whole = cell.chars().all(|c| c.is_ascii_digit());
            match point(cell) {
                Some((_, "")) if is_whole && !section.is_empty() => {
                    found.extend([format!("{section}.{cell}"), format!("{section}-{cell}")]);
                }
                Some((_, "")) if !is_whole => {
                    found.insert(cell.to_owned());
                }
                _ => {}
            }
        }
    }
    found
}

/// What a file names, each with its line.
fn named(file: &SourceFile) -> Vec<(usize, String)> {
    let (text, begins) = joined(file);
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut found = Vec::new();
    for (at, _) in text.match_indices(NAMED) {
        let (before, from) = text.split_at(at);
        if !before.ends_with(is_word) {
            let line = begins.partition_point(|begin| *begin <= at);
            let names = list(from.strip_prefix(NAMED).unwrap_or_default());
            found.extend(names.into_iter().map(|point| (line, point)));
        }
    }
    found
}

/// The text without the ends of lines and what begins a line of a comment, and where each line begins in it.
fn joined(file: &SourceFile) -> (String, Vec<usize>) {
    let (mut text, mut begins) = (String::new(), Vec::new());
    for line in file.text.lines() {
        begins.push(text.len());
        let line = line.trim().trim_start_matches(['/', '!', '*']).trim_start();
        text.push_str(line);
        text.push(' ');
    }
    (text, begins)
}

/// The points of a list at the beginning of `text`.
fn list(mut text: &str) -> Vec<String> {
    let mut found = Vec::new();
    while let Some((name, rest)) = point(text) {
        found.push(name.to_owned());
        text = behind_parts(rest);
        // "12 T1": a point of a section.
        let next = text.strip_prefix(' ').filter(|rest| rest.starts_with(['T', 'I']));
        let separated = || BETWEEN.iter().find_map(|between| text.strip_prefix(between));
        let Some(next) = next.filter(|rest| point(rest).is_some()).or_else(separated) else { break };
        text = next;
    }
    found
}

/// Leaves out ` row 7a`, ` rules 1 to 3` and ` rows 2, 3 and 13`: whole numbers behind them are rows as well.
fn behind_parts(text: &str) -> &str {
    let Some(mut rest) = PARTS.iter().find_map(|part| text.strip_prefix(part)) else { return text };
    loop {
        let end = rest.find(|c: char| !c.is_alphanumeric()).unwrap_or(rest.len());
        rest = rest.get(end..).unwrap_or_default();
        let next = BETWEEN.iter().find_map(|between| rest.strip_prefix(between));
        match next.and_then(|next| Some((next, point(next)?))) {
            Some((next, (name, _))) if !name.contains(['.', '-', 'T', 'I']) => rest = next,
            _ => return rest,
        }
    }
}

/// One point, `4.2`, `18.4-8` or `T1`, and what follows it.
fn point(text: &str) -> Option<(&str, &str)> {
    let digits = |from: usize| {
        let rest = text.get(from..).unwrap_or_default();
        from + rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len())
    };
    let letter = usize::from(text.starts_with(['T', 'I']));
    let mut end = digits(letter);
    if end == letter {
        return None;
    }
    for mark in ['.', '-'].into_iter().filter(|_| letter == 0) {
        let more =
            if text.get(end..).is_some_and(|rest| rest.starts_with(mark)) { digits(end + 1) } else { end };
        end = if more > end + 1 { more } else { end };
    }
    Some(text.split_at(end))
}

#[cfg(test)]
mod tests {
    use super::super::places;
    use super::*;

    /// A file whose comments say this; written so that this file names nothing itself.
    fn saying(words: &str) -> SourceFile {
        SourceFile::new("a/src/b.rs", &words.replace('§', NAMED))
    }

    fn missing(document: &str, words: &str) -> Vec<String> {
        let files = [SourceFile::new(DOCUMENT, document), saying(words)];
        places(named_exist(&files))
    }

    #[test]
    fn a_section_that_does_not_exist_is_found() {
        let document = "# 4. API\n\n## 4.2 Order\n\n## 4.5, 4.6 Lists\n";
        assert_eq!(missing(document, "//! As §4.2, 4.5 and 4.6 say (§4).\n"), Vec::<String>::new());
        assert_eq!(missing(document, "//! Fine.\n//! As §4.3 says.\n"), ["a/src/b.rs:2"]);
        assert_eq!(missing(document, "/// See §4.2,\n    /// 4.7.\n"), ["a/src/b.rs:1"]);
        assert_eq!(missing("", "//! §4.2\n"), ["a/src/b.rs:1"]);
    }

    #[test]
    fn rows_of_tables_are_points() {
        let document = "# 12. Storage\n\n| T1 | one |\n\n# 15. Further\n\n| 15.9 | fresh |\n\n## 18.4 Delivery\n\n\
                        | # | Rule |\n| 8 | busy |\n\n# 21. Shards\n\n| 2 | turns |\n";
        assert_eq!(missing(document, "// §12 T1, 15.9 and §18.4-8, 21.2\n"), Vec::<String>::new());
        assert_eq!(missing(document, "// §12 T2\n"), ["a/src/b.rs:1"]);
        assert_eq!(missing(document, "// §18.4-9\n"), ["a/src/b.rs:1"]);
        assert_eq!(missing(document, "// §15.8\n"), ["a/src/b.rs:1"]);
    }

    #[test]
    fn rows_and_rules_of_a_section_belong_to_it() {
        let names =
            |words: &str| named(&saying(words)).into_iter().map(|(_, point)| point).collect::<Vec<_>>();
        assert_eq!(names("// (§3.9 row 7a, 4.1)\n"), ["3.9", "4.1"]);
        assert_eq!(names("// §7.6 rules 1 to 3.\n"), ["7.6"]);
        assert_eq!(names("// §4.2 rows 2, 3 and 13, 5.3).\n"), ["4.2", "5.3"]);
        assert_eq!(names("// §3.1–3.11, then 5\n"), ["3.1", "3.11"]);
        assert_eq!(names("// a sub§3.1, the §of them\n"), Vec::<String>::new());
    }
}
