//! How modules stand to each other: one style of folders, closed aggregates, and no circle in the domain.
//!
//! A module with children is `name/mod.rs`. A module of an aggregate is public, or private, so that the compiler keeps
//! other aggregates out; what these need of a private one, `mod.rs` passes on. In `authority/domain/src` no file may
//! need, over any number of others, one that needs it back. An arrow is a path that begins with `crate::`, followed to
//! the file that holds the item: what a `mod.rs` only passes on with `pub use` counts as its child's.

use std::collections::{BTreeMap, BTreeSet};

use super::files::{Part, SourceFile};
use super::{Finding, in_lines};

/// The folders whose folders are aggregates.
const AGGREGATES: [&str; 2] = [DOMAIN, "authority/src/app/"];

/// No aggregate: what all of them read bodies with.
const SHARED: &str = "body";

/// Where there is no circle.
const DOMAIN: &str = "authority/domain/src/";

/// A module has no file beside its folder.
pub(super) fn one_style(files: &[SourceFile]) -> Vec<Finding> {
    let folders: BTreeSet<&str> = files
        .iter()
        .filter(|file| file.is_rust())
        .filter_map(|file| file.path.rsplit_once('/'))
        .map(|(folder, _)| folder)
        .collect();
    let beside =
        |file: &&SourceFile| file.path.strip_suffix(".rs").is_some_and(|module| folders.contains(module));
    files
        .iter()
        .filter(beside)
        .map(|file| Finding::in_file(&file.path, "a module with children is the mod.rs of its folder"))
        .collect()
}

/// No aggregate opens a module to its crate alone.
pub(super) fn closed_aggregates(files: &[SourceFile]) -> Vec<Finding> {
    let is_aggregate = |file: &&SourceFile| {
        let inside = AGGREGATES.iter().find_map(|folder| file.path.strip_prefix(folder));
        let aggregate = inside.and_then(|path| path.strip_suffix("/mod.rs"));
        aggregate.is_some_and(|name| name != SHARED && !name.contains('/'))
    };
    let message = "a module of an aggregate is public or private: pass on what others need";
    let opens = |line: &str| line.starts_with("pub(") && line.contains(") mod ");
    in_lines(files.iter().filter(is_aggregate), Part::Whole, message, opens)
}

/// No file of the domain needs itself over others.
pub(super) fn no_circles(files: &[SourceFile]) -> Vec<Finding> {
    let domain: Vec<&SourceFile> =
        files.iter().filter(|file| file.path.starts_with(DOMAIN) && file.is_rust()).collect();
    let modules: BTreeMap<Vec<&str>, &SourceFile> = domain.iter().map(|file| (module(file), *file)).collect();
    let arrows: BTreeMap<&str, BTreeSet<&str>> = domain
        .iter()
        .map(|file| {
            let needed = paths(file).into_iter().filter_map(|path| holder(&modules, &path));
            (file.path.as_str(), needed.filter(|needed| *needed != file.path).collect())
        })
        .collect();
    arrows
        .keys()
        .filter(|file| reaches(&arrows, file, file))
        .map(|file| Finding::in_file(file, "stands in a circle: it needs a file that needs it back"))
        .collect()
}

/// The module that a file is, from the root of its crate.
fn module(file: &SourceFile) -> Vec<&str> {
    let path = file.path.strip_prefix(DOMAIN).unwrap_or(&file.path);
    let path = path.strip_suffix(".rs").unwrap_or(path);
    path.split('/').filter(|part| !matches!(*part, "mod" | "lib")).collect()
}

/// All paths below `crate::` that the code names, with groups written out.
fn paths(file: &SourceFile) -> Vec<Vec<String>> {
    let code: String = file
        .lines_of(Part::Shipped)
        .map(|(_, line)| line.split_once("//").map_or(line, |(code, _)| code))
        .flat_map(|line| [line.trim(), " "])
        .collect();
    let mut found = Vec::new();
    for (begin, root) in code.match_indices("crate::") {
        let rest = code.get(begin + root.len()..).unwrap_or("");
        written_out(rest, &mut Vec::new(), &mut found);
    }
    found
}

/// Reads one path, or a group of them, and returns what stands behind it.
fn written_out<'c>(code: &'c str, before: &mut Vec<String>, found: &mut Vec<Vec<String>>) -> &'c str {
    let depth = before.len();
    let mut rest = code.trim_start();
    loop {
        if let Some(mut group) = rest.strip_prefix('{') {
            while !group.trim_start().starts_with('}') && !group.is_empty() {
                group = written_out(group, before, found).trim_start();
                // `as another_name` and the comma are not looked at.
                let next = group.find([',', '}']).unwrap_or(group.len());
                group = group.get(next..).unwrap_or("").trim_start_matches(',');
            }
            rest = group.trim_start().strip_prefix('}').unwrap_or("");
            break;
        }
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        let (name, behind) = rest.split_at(end);
        if !name.is_empty() && name != "self" {
            before.push(name.to_owned());
        }
        match behind.strip_prefix("::") {
            Some(more) if !name.is_empty() => rest = more,
            _ => {
                found.push(before.clone());
                rest = behind;
                break;
            }
        }
    }
    before.truncate(depth);
    rest
}

/// The file that holds what `path` names.
fn holder<'f>(modules: &BTreeMap<Vec<&str>, &'f SourceFile>, path: &[String]) -> Option<&'f str> {
    let names: Vec<&str> = path.iter().map(String::as_str).collect();
    let depth = (1..=names.len())
        .rev()
        .find(|depth| names.get(..*depth).is_some_and(|name| modules.contains_key(name)))?;
    let (found, items) = names.split_at(depth);
    let file = modules.get(found)?;
    let passed_on = items.first().and_then(|item| {
        let exports = file.text.split("pub use ").chain(file.text.split("pub(crate) use ")).skip(1);
        let by = exports.filter_map(|export| export.split_once(';')).find(|(export, _)| {
            export.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == *item)
        })?;
        let child = by.0.split_once("::")?.0.trim();
        modules.get([found, &[child]].concat().as_slice())
    });
    Some(passed_on.unwrap_or(file).path.as_str())
}

fn reaches(arrows: &BTreeMap<&str, BTreeSet<&str>>, from: &str, to: &str) -> bool {
    let (mut seen, mut open) = (BTreeSet::new(), vec![from]);
    while let Some(file) = open.pop() {
        for next in arrows.get(file).into_iter().flatten() {
            if *next == to {
                return true;
            }
            if seen.insert(*next) {
                open.push(next);
            }
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn domain(files: &[(&str, &str)]) -> Vec<SourceFile> {
        files.iter().map(|(path, text)| SourceFile::new(&format!("{DOMAIN}{path}"), text)).collect()
    }

    #[test]
    fn a_module_beside_its_folder_is_found() {
        let file = |path| SourceFile::new(path, "");
        assert_eq!(one_style(&[file("a/src/b.rs"), file("a/src/b/c.rs")]).len(), 1);
        assert_eq!(one_style(&[file("a/src/b/mod.rs"), file("a/src/b/c.rs"), file("a/src/d.rs")]), []);
    }

    #[test]
    fn an_aggregate_that_is_open_to_its_crate_is_found() {
        let opens = |path: &str, line: &str| closed_aggregates(&[SourceFile::new(path, line)]).len();
        for path in ["authority/domain/src/order/mod.rs", "authority/src/app/order/mod.rs"] {
            for line in ["pub(crate) mod basket;", "pub(in crate::app) mod basket;"] {
                assert_eq!(opens(path, line), 1, "{path}: {line}");
            }
            for line in
                ["mod basket;", "pub mod basket;", "pub(crate) use basket::Basket;", "// pub(crate) mod a;"]
            {
                assert_eq!(opens(path, line), 0, "{path}: {line}");
            }
        }
        for path in
            ["authority/domain/src/body/mod.rs", "authority/domain/src/lib.rs", "authority/src/app/mod.rs"]
        {
            assert_eq!(opens(path, "pub(crate) mod basket;"), 0, "{path}");
        }
    }

    #[test]
    fn a_circle_is_found_however_it_is_written() {
        let table: [(&[(&str, &str)], usize); 5] = [
            (&[("a.rs", "use crate::b::B;"), ("b.rs", "use crate::a::A;")], 2),
            (&[("a.rs", "use crate::{\n    c, b::{self, B},\n};"), ("b.rs", "fn f() { crate::a::f() }")], 2),
            (&[("a.rs", "use crate::b::B;"), ("b.rs", "use crate::c::C;"), ("c.rs", "use crate::a::A;")], 3),
            (
                &[
                    ("o/mod.rs", "pub use r::{R, S};\nmod r;"),
                    ("o/r.rs", "use crate::p::P;"),
                    ("p.rs", "use crate::o::S;"),
                ],
                2,
            ),
            (
                &[
                    ("o/mod.rs", "pub use r::R;\npub use s::S;"),
                    ("o/r.rs", "use crate::p::P;\n// crate::o::R"),
                    ("o/s.rs", "//! crate::p"),
                    ("p.rs", "use crate::o::S;\n#[cfg(test)]\nmod tests { use crate::o::R; }"),
                ],
                0,
            ),
        ];
        for (files, expected) in table {
            assert_eq!(no_circles(&domain(files)).len(), expected, "{files:?}");
        }
    }
}
