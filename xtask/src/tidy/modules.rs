//! How modules stand to each other: one style of folders, closed aggregates, and no circle in the domain and the store.
//!
//! A module with children is `name/mod.rs`. A module of an aggregate is public, or private, so that the compiler keeps
//! other aggregates out; what these need of a private one, `mod.rs` passes on. In `authority/domain/src` and
//! `authority/store/src` no file may need, over any number of others, one that needs it back. An arrow is a path that
//! begins with `crate::`, `super::` or `self::`, followed to the file that holds the item: what a module only passes on
//! with `pub use` counts as that of the file it has it from.

use std::collections::{BTreeMap, BTreeSet};

use super::files::{Part, SourceFile};
use super::{Finding, in_lines};

/// The folders whose folders are aggregates.
const AGGREGATES: [&str; 2] = [DOMAIN, "authority/src/app/"];

/// No aggregate: what all of them read bodies with.
const SHARED: &str = "body";

const DOMAIN: &str = "authority/domain/src/";

/// Where there is no circle.
const WITHOUT_CIRCLES: [&str; 2] = [DOMAIN, "authority/store/src/"];

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

/// No file of the domain or of the store needs itself over others.
pub(super) fn no_circles(files: &[SourceFile]) -> Vec<Finding> {
    WITHOUT_CIRCLES.iter().flat_map(|root| circles_below(root, files)).collect()
}

fn circles_below(root: &str, files: &[SourceFile]) -> Vec<Finding> {
    let files = files.iter().filter(|file| file.is_rust() && file.path.starts_with(root));
    let modules: Modules<'_> = files.map(|file| (module(root, file), Module::new(root, file))).collect();
    let arrows: BTreeMap<&str, BTreeSet<&str>> = modules
        .values()
        .map(|Module { file, needs, .. }| {
            let needed = needs.iter().filter_map(|path| holder(&modules, path));
            (file.path.as_str(), needed.filter(|needed| *needed != file.path).collect())
        })
        .collect();
    arrows
        .keys()
        .filter(|file| reaches(&arrows, file, file))
        .map(|file| Finding::in_file(file, "stands in a circle: it needs a file that needs it back"))
        .collect()
}

/// The modules of a crate by their paths from its root.
type Modules<'f> = BTreeMap<Vec<String>, Module<'f>>;

/// A file, what it names, and what it passes on; paths from the root of the crate.
struct Module<'f> {
    file: &'f SourceFile,
    needs: Vec<Vec<String>>,
    passes_on: Vec<Vec<String>>,
}

impl<'f> Module<'f> {
    fn new(root: &str, file: &'f SourceFile) -> Self {
        let own = module(root, file);
        let code: String = file
            .lines_of(Part::Shipped)
            .map(|(_, line)| line.split_once("//").map_or(line, |(code, _)| code))
            .flat_map(|line| [line.trim(), " "])
            .collect();
        let (mut needs, mut passes_on) = (Vec::new(), Vec::new());
        for beginning in BEGINNINGS {
            for (at, _) in code.match_indices(beginning) {
                let before = code.get(..at).and_then(|before| before.chars().next_back());
                if !before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == ':') {
                    written_out(code.get(at..).unwrap_or(""), &own, &mut needs);
                }
            }
        }
        for export in ["pub use ", "pub(crate) use ", "pub(super) use "] {
            for (at, _) in code.match_indices(export) {
                let path = code.get(at + export.len()..).unwrap_or("");
                written_out(path, &own, &mut passes_on);
            }
        }
        Self { file, needs, passes_on }
    }
}

/// How a path begins that stays in the crate.
const BEGINNINGS: [&str; 3] = ["crate::", "super::", "self::"];

/// The module that a file is, from the root of its crate.
fn module(root: &str, file: &SourceFile) -> Vec<String> {
    let path = file.path.strip_prefix(root).unwrap_or(&file.path);
    let path = path.strip_suffix(".rs").unwrap_or(path);
    path.split('/').filter(|part| !matches!(*part, "mod" | "lib")).map(str::to_owned).collect()
}

/// Adds the paths that `code` begins with, a group of them written out. Without a beginning of its own a path goes on
/// from the module `own`.
fn written_out(code: &str, own: &[String], found: &mut Vec<Vec<String>>) {
    let (mut base, mut rest) = (own.to_vec(), code);
    if let Some(behind) = rest.strip_prefix("crate::") {
        (base, rest) = (Vec::new(), behind);
    }
    rest = rest.strip_prefix("self::").unwrap_or(rest);
    while let Some(behind) = rest.strip_prefix("super::") {
        base.pop();
        rest = behind;
    }
    continued(rest, &mut base, found);
}

/// Reads one path, or a group of them, and returns what stands behind it.
fn continued<'c>(code: &'c str, before: &mut Vec<String>, found: &mut Vec<Vec<String>>) -> &'c str {
    let depth = before.len();
    let mut rest = code.trim_start();
    loop {
        if let Some(mut group) = rest.strip_prefix('{') {
            while !group.trim_start().starts_with('}') && !group.is_empty() {
                group = continued(group, before, found).trim_start();
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

/// The file that holds what `path` names: where a module only passes the item on, the file that it has it from. `None`
/// for the root of the crate, and for what is none of its modules.
fn holder<'f>(modules: &Modules<'f>, path: &[String]) -> Option<&'f str> {
    let depth = (1..=path.len())
        .rev()
        .find(|depth| path.get(..*depth).is_some_and(|name| modules.contains_key(name)))?;
    let (found, items) = path.split_at(depth);
    let module = modules.get(found)?;
    let passed_on = items.first().and_then(|item| {
        let source = module.passes_on.iter().find(|source| source.last() == Some(item))?;
        if source == path { None } else { holder(modules, source) }
    });
    Some(passed_on.unwrap_or(&module.file.path))
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
        let table: [(&[(&str, &str)], usize); 8] = [
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
            // Over a module that passes on what stands below it.
            (
                &[
                    ("tx.rs", "pub use crate::sql::a::A;"),
                    ("sql/a.rs", "use crate::b::B;"),
                    ("b.rs", "use crate::tx::A;"),
                ],
                2,
            ),
            (&[("q/mod.rs", "use self::s::S;\nstruct B;"), ("q/s.rs", "use super::B;")], 2),
            (
                &[
                    ("q/mod.rs", "pub(crate) use self::s::S;\npub use t::g;"),
                    ("q/s.rs", "fn f() { super::g() }"),
                    ("q/t.rs", "fn g() {}"),
                ],
                0,
            ),
        ];
        for (files, expected) in table {
            for root in WITHOUT_CIRCLES {
                let file = |(path, text): &(&str, &str)| SourceFile::new(&format!("{root}{path}"), text);
                let sources: Vec<SourceFile> = files.iter().map(file).collect();
                assert_eq!(no_circles(&sources).len(), expected, "{root}: {files:?}");
            }
        }
    }
}
