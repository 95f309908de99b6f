//! The types of the npm package, written from the schemas: what a TypeScript receiver sees of an event.
//!
//! [`files`] renders every file; [`write()`] puts them below `pkg/src`, [`differences`] says which of those that lie
//! there are not what would be written. They are committed, because people read them in reviews and in their editors.
//!
//! Closed sets of names are open to a consumer (contract 1), and still a misspelt name should not compile. So each of
//! them has one more value, `Unlisted`, that stands for the texts of later versions and equals no text that could be
//! written in a program: comparisons narrow, and a `switch` needs a `default`. The same holds for the types of events.

mod codes;
mod events;
mod expression;
mod records;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};

pub use self::expression::{Notation, references};
use crate::Schemas;
use crate::schemas::REFERENCE;

/// How the records are written.
const NOTATION: Notation = Notation { reference: REFERENCE, of_callers: false };

/// How long a line of the sources may be, columns.
pub const LINE_LENGTH: usize = 120;

/// The folder of the files that have one record each, which holds nothing else.
const RECORDS: &str = "records";

/// Every file, by its path below `pkg/src`.
///
/// # Errors
/// A schema uses something that has no counterpart in TypeScript here.
pub fn files(schemas: &Schemas) -> Result<BTreeMap<String, String>> {
    let mut files = records::files(schemas)?;
    files.insert("events.ts".to_owned(), events::file(schemas)?);
    files.insert("codes.ts".to_owned(), codes::file());
    Ok(files)
}

/// The names of the types below `records/`: what events carry, and what that is made of.
#[must_use]
pub fn record_names(schemas: &Schemas) -> BTreeSet<String> {
    records::names(schemas)
}

/// Writes `files` below `folder`, and removes records that there are no more.
///
/// # Errors
/// The folder cannot be read or written.
pub fn write(folder: &Path, files: &BTreeMap<String, String>) -> Result<()> {
    for path in strangers(folder, files)? {
        let path = folder.join(path);
        fs::remove_file(&path).with_context(|| format!("{} cannot be removed", path.display()))?;
    }
    fs::create_dir_all(folder.join(RECORDS))
        .with_context(|| format!("{} cannot be made", folder.join(RECORDS).display()))?;
    for (path, text) in files {
        let path = folder.join(path);
        fs::write(&path, text).with_context(|| format!("{} cannot be written", path.display()))?;
    }
    Ok(())
}

/// The paths below `folder` at which something else lies than `files` say.
///
/// # Errors
/// The folder cannot be read.
pub fn differences(folder: &Path, files: &BTreeMap<String, String>) -> Result<Vec<String>> {
    let differs = |path: &&String| fs::read_to_string(folder.join(path)).ok().as_ref() != files.get(*path);
    let mut paths: Vec<String> = files.keys().filter(differs).cloned().collect();
    paths.extend(strangers(folder, files)?);
    Ok(paths)
}

/// Files in the folder of the records that would not be written.
fn strangers(folder: &Path, files: &BTreeMap<String, String>) -> Result<Vec<String>> {
    let records = folder.join(RECORDS);
    if !records.exists() {
        return Ok(Vec::new());
    }
    let mut paths = Vec::new();
    for entry in fs::read_dir(&records).with_context(|| format!("{} cannot be read", records.display()))? {
        let path = format!("{RECORDS}/{}", entry?.file_name().to_string_lossy());
        if !files.contains_key(&path) {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

/// A documentation comment, on one line where there is room, without the indentation of the first line.
#[must_use]
pub fn comment(text: &str, indent: usize) -> String {
    let text = text.trim().replace("*/", "*\u{200b}/");
    if !text.contains('\n') && indent + text.chars().count() + "/**  */".len() <= LINE_LENGTH {
        return format!("/** {text} */");
    }
    let margin = " ".repeat(indent);
    let mut lines = vec!["/**".to_owned()];
    for line in text.lines() {
        let wrapped = wrap(line, LINE_LENGTH - indent - " * ".len());
        lines.extend(wrapped.iter().map(|line| format!("{margin} * {line}").trim_end().to_owned()));
    }
    lines.push(format!("{margin} */"));
    lines.join("\n")
}

/// Breaks a line at blanks; a list's item goes on indented.
fn wrap(line: &str, width: usize) -> Vec<String> {
    let hanging = if line.starts_with("- ") { "  " } else { "" };
    let mut lines = Vec::new();
    let mut current = String::new();
    for word in line.split(' ') {
        if !current.trim().is_empty() && current.chars().count() + 1 + word.chars().count() > width {
            lines.push(std::mem::replace(&mut current, hanging.to_owned() + word));
        } else if current.is_empty() {
            current.push_str(word);
        } else {
            current.push(' ');
            current.push_str(word);
        }
    }
    lines.push(current);
    lines
}

/// `import type { A, B } from "file";`, or the same with `export`, broken where it would be too long.
#[must_use]
pub fn listing(verb: &str, names: &[&str], file: &str) -> String {
    let line = format!("{verb} type {{ {} }} from \"{file}\";\n", names.join(", "));
    if line.trim_end().len() <= LINE_LENGTH {
        return line;
    }
    format!("{verb} type {{\n  {},\n}} from \"{file}\";\n", names.join(",\n  "))
}

/// The word with a capital at its beginning.
#[must_use]
pub fn capitalised(word: &str) -> String {
    let (first, rest) = word.split_at(word.len().min(1));
    first.to_ascii_uppercase() + rest
}

/// `export type Name = "a" | "b";`, one alternative per line where the line would be too long.
#[must_use]
pub fn union(name: &str, alternatives: &[String]) -> String {
    let line = format!("export type {name} = {};\n", alternatives.join(" | "));
    if line.trim_end().len() <= LINE_LENGTH {
        return line;
    }
    format!("export type {name} =\n  | {};\n", alternatives.join("\n  | "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comment_stays_within_the_line_and_cannot_end_early() {
        assert_eq!(comment(" Short. ", 2), "/** Short. */");
        assert_eq!(comment("a */ b", 0), "/** a *\u{200b}/ b */");
        let long = comment(&"word ".repeat(40), 2);
        assert!(long.starts_with("/**\n   * word word"), "{long}");
        assert!(long.lines().all(|line| line.len() <= LINE_LENGTH), "{long}");
        let item = comment(&format!("Head.\n\n- `a`: {}", "word ".repeat(40)), 0);
        assert!(item.contains("\n * Head.\n *\n * - `a`: word") && item.contains("\n *   word"), "{item}");
    }

    #[test]
    fn a_union_is_broken_when_it_is_long() {
        let few = ["\"a\"".to_owned(), "\"b\"".to_owned()];
        assert_eq!(union("Few", &few), "export type Few = \"a\" | \"b\";\n");
        let many = vec!["\"abcdefghij\"".to_owned(); 12];
        assert!(union("Many", &many).starts_with("export type Many =\n  | \"abcdefghij\"\n  | "));
    }

    #[test]
    fn what_differs_is_found_and_written() {
        let folder = tempfile::tempdir().unwrap();
        let files = BTreeMap::from([
            ("records/a.ts".to_owned(), "a".to_owned()),
            ("b.ts".to_owned(), "b".to_owned()),
        ]);
        let found = || differences(folder.path(), &files).unwrap();
        assert_eq!(found(), ["b.ts", "records/a.ts"]);
        write(folder.path(), &files).unwrap();
        assert_eq!(found(), [""; 0]);
        fs::write(folder.path().join("records/old.ts"), "").unwrap();
        fs::write(folder.path().join("b.ts"), "c").unwrap();
        fs::write(folder.path().join("by_hand.ts"), "").unwrap();
        assert_eq!(found(), ["b.ts", "records/old.ts"]);
        write(folder.path(), &files).unwrap();
        assert_eq!(found(), [""; 0]);
        assert!(folder.path().join("by_hand.ts").exists());
    }
}
