//! Documents hold together: a link within the project leads to a file, and to a heading of it where it names one; the
//! rows of a table have as many cells as its head.
//!
//! A heading is named as GitHub names it: lower case, blanks become hyphens, other marks are left out, and a heading
//! that comes again gets a number. What stands in a block of code is not looked at.

use std::collections::{BTreeMap, BTreeSet};

use super::Finding;
use super::files::SourceFile;

/// Links of documents lead somewhere.
pub(super) fn links_lead_somewhere(files: &[SourceFile]) -> Vec<Finding> {
    let paths: BTreeSet<&str> = files.iter().map(|file| file.path.as_str()).collect();
    let folders: BTreeSet<&str> = paths
        .iter()
        .flat_map(|path| path.match_indices('/').filter_map(|(end, _)| path.get(..end)))
        .collect();
    let headings: BTreeMap<&str, BTreeSet<String>> =
        documents(files).map(|file| (file.path.as_str(), anchors(file))).collect();
    let leads = |from: &str, link: &str| {
        let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
        let Some(target) = joined(from, path) else { return false };
        let there = paths.contains(target.as_str()) || folders.contains(target.as_str());
        let named = |anchors: &BTreeSet<String>| anchor.is_empty() || anchors.contains(anchor);
        there && headings.get(target.as_str()).is_none_or(named)
    };
    documents(files)
        .flat_map(|file| prose(file).map(move |(number, line)| (file, number, line)))
        .flat_map(|(file, number, line)| links(line).map(move |link| (file, number, link)))
        .filter(|(file, _, link)| !leads(&file.path, link))
        .map(|(file, number, link)| Finding::in_line(file, number, format!("{link} leads nowhere")))
        .collect()
}

/// Tables are whole.
pub(super) fn tables_are_whole(files: &[SourceFile]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in documents(files) {
        let (mut last, mut head) = (None, 0);
        for (number, line) in prose(file).filter(|(_, line)| line.starts_with('|')) {
            let cells = cells(line);
            if last != Some(number - 1) {
                head = cells;
            }
            if cells != head {
                let message = format!("a row of {cells} cells in a table of {head}");
                findings.push(Finding::in_line(file, number, message));
            }
            last = Some(number);
        }
    }
    findings
}

fn documents(files: &[SourceFile]) -> impl Iterator<Item = &SourceFile> {
    files.iter().filter(|file| file.extension() == "md")
}

/// The lines outside of blocks of code.
fn prose(file: &SourceFile) -> impl Iterator<Item = (usize, &str)> {
    let mut inside = false;
    file.lines().filter(move |(_, line)| {
        let fence = line.trim_start().starts_with("```");
        inside ^= fence;
        !inside && !fence
    })
}

/// The targets of links within the project.
fn links(line: &str) -> impl Iterator<Item = &str> {
    let targets = line.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(target, _)| target);
    targets.filter(|target| !target.contains([':', ' ']) && !target.starts_with('/'))
}

/// The path that `link` means in the document `from`; `None` outside of the project.
fn joined(from: &str, link: &str) -> Option<String> {
    if link.is_empty() {
        return Some(from.to_owned());
    }
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in link.split('/') {
        match part {
            "." | "" => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// How many cells a row has: `\|` and what stands in backticks separates nothing.
fn cells(row: &str) -> usize {
    let outside: String = row.replace("\\|", "").split('`').step_by(2).collect();
    outside.trim().trim_matches('|').split('|').count()
}

/// The names of the headings of a document.
fn anchors(file: &SourceFile) -> BTreeSet<String> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let headings = prose(file).filter(|(_, line)| line.starts_with('#'));
    headings
        .filter_map(|(_, line)| line.trim_start_matches('#').strip_prefix(' '))
        .map(|heading| {
            let kept = |c: &char| c.is_alphanumeric() || matches!(c, '-' | '_' | ' ');
            let name: String = heading.trim().to_lowercase().chars().filter(kept).collect();
            let name = name.replace(' ', "-");
            let times = seen.entry(name.clone()).or_default();
            *times += 1;
            if *times == 1 { name } else { format!("{name}-{}", *times - 1) }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::places;
    use super::*;

    #[test]
    fn a_link_that_leads_nowhere_is_found() {
        let found = |text: &str| {
            let other = SourceFile::new("docs/b.md", "# The `other` one\n\n## 2.1 Same\n\n## 2.1 Same\n");
            let files = [SourceFile::new("docs/a.md", text), other, SourceFile::new("x/y.rs", "")];
            places(links_lead_somewhere(&files))
        };
        for good in [
            "b.md",
            "b.md#the-other-one",
            "b.md#21-same-1",
            "../x/y.rs",
            "../x",
            "https://a.example/b",
            "#here",
        ] {
            assert_eq!(found(&format!("# Here\n\n[a]({good})\n")), Vec::<String>::new(), "{good}");
        }
        for bad in ["c.md", "b.md#nowhere", "../../b.md", "#there", "b.md#21-same-2"] {
            assert_eq!(found(&format!("# Here\n\n[a]({bad})\n")), ["docs/a.md:3"], "{bad}");
        }
        assert_eq!(found("```\n[a](c.md)\n```\n"), Vec::<String>::new());
    }

    #[test]
    fn a_table_that_is_broken_is_found() {
        let found = |text: &str| places(tables_are_whole(&[SourceFile::new("a.md", text)]));
        assert_eq!(
            found("| a | b |\n|---|---|\n| 1 | `x|y` |\n| 2 | c\\|d |\n\n| a |\n|---|\n"),
            Vec::<String>::new()
        );
        assert_eq!(found("| a | b |\n|---|---|\n| 1 |\n"), ["a.md:3"]);
    }
}
