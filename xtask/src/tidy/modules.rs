//! How modules stand to each other: one style of folders, closed aggregates, and no circle in the domain and the store.
//!
//! A module with children is `name/mod.rs`. A module of an aggregate is public, or private, so that the compiler keeps
//! other aggregates out; what these need of a private one, `mod.rs` passes on. In `authority/domain/src` and
//! `authority/store/src` no file and no folder may need, over any number of others, one that needs it back
//! ([`arrows`]).

use std::collections::{BTreeMap, BTreeSet};

use super::arrows::arrows;
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

/// No file of the domain or of the store needs itself over others, and no folder does.
pub(super) fn no_circles(files: &[SourceFile]) -> Vec<Finding> {
    WITHOUT_CIRCLES.iter().flat_map(|root| circles_below(root, files)).collect()
}

fn circles_below(root: &str, files: &[SourceFile]) -> Vec<Finding> {
    let files = files.iter().filter(|file| file.is_rust() && file.path.starts_with(root));
    let arrows = arrows(root, files);
    let in_a_circle = |arrows: &Arrows<'_>, message| {
        let found = arrows.keys().filter(|place| reaches(arrows, place, place));
        found.map(|place| Finding::in_file(place, message)).collect::<Vec<_>>()
    };
    let found = in_a_circle(&arrows, "stands in a circle: it needs a file that needs it back");
    if found.is_empty() {
        return in_a_circle(
            &between_folders(root, &arrows),
            "stands in a circle: it needs a folder that needs it back",
        );
    }
    found
}

/// Files or folders, each with those that it needs.
type Arrows<'f> = BTreeMap<&'f str, BTreeSet<&'f str>>;

/// The same between folders; a file of the root stands for itself.
fn between_folders<'f>(root: &str, arrows: &Arrows<'f>) -> Arrows<'f> {
    let mut between = Arrows::new();
    for (file, needed) in arrows {
        let folder = folder_of(root, file);
        let others = needed.iter().map(|file| folder_of(root, file)).filter(|needed| *needed != folder);
        between.entry(folder).or_default().extend(others);
    }
    between
}

/// Whose folders are rooms of their own: the statements, an aggregate each.
const ROOMS_WITHIN: &str = "sql/";

fn folder_of<'f>(root: &str, file: &'f str) -> &'f str {
    let path = file.strip_prefix(root).unwrap_or(file);
    let depth = if path.starts_with(ROOMS_WITHIN) { 2 } else { 1 };
    let below: usize = path.splitn(depth + 1, '/').skip(depth).map(|rest| rest.len() + 1).sum();
    file.get(..file.len() - below).unwrap_or(file)
}

fn reaches(arrows: &Arrows<'_>, from: &str, to: &str) -> bool {
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
        let table: [(&[(&str, &str)], usize); 17] = [
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
                    ("o/r.rs", "use crate::o::p::P;\n// crate::o::R"),
                    ("o/s.rs", "//! crate::o::p"),
                    ("o/p.rs", "use crate::o::S;\n#[cfg(test)]\nmod tests { use crate::o::R; }"),
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
            (&[("q/mod.rs", "use self::s::S;\npub(in crate::q) struct B;"), ("q/s.rs", "use super::B;")], 2),
            (
                &[
                    ("q/mod.rs", "pub(crate) use self::s::S;\npub use t::g;"),
                    ("q/s.rs", "fn f() { super::g() }"),
                    ("q/t.rs", "fn g() {}"),
                ],
                0,
            ),
            // A module that only passes an item on does not need it; one that uses it does.
            (&[("q/mod.rs", "pub use self::s::S;\nstruct B;"), ("q/s.rs", "use super::B;")], 0),
            (&[("q/mod.rs", "pub use s::S;\nfn f(_: S) {}\nstruct B;"), ("q/s.rs", "use super::B;")], 2),
            (
                &[
                    ("q/mod.rs", "#[cfg(test)]\nmod t;\nuse s::S;\nstruct B;\nmod s;"),
                    ("q/s.rs", "use super::B;"),
                ],
                2,
            ),
            // Two folders whose files need each other's, though no file needs itself.
            (
                &[
                    ("o/a.rs", "use crate::p::a::A;"),
                    ("o/b.rs", "struct B;"),
                    ("p/a.rs", "struct A;"),
                    ("p/b.rs", "use crate::o::b::B;"),
                ],
                2,
            ),
            (
                &[
                    ("sql/o/a.rs", "use crate::sql::p::a::A;"),
                    ("sql/o/b.rs", "struct B;"),
                    ("sql/p/a.rs", "struct A;"),
                    ("sql/p/b.rs", "use crate::sql::o::b::B;"),
                ],
                2,
            ),
            // Under another name, over an imported module, over the root, and by all names of a file.
            (
                &[
                    ("q/mod.rs", "pub use s::S as T;"),
                    ("q/s.rs", "use crate::r::R;"),
                    ("r.rs", "use crate::q;\nfn f(_: q::T) {}"),
                ],
                2,
            ),
            (&[("a.rs", "use crate::{b, c};\nfn f() { b::f() }"), ("b.rs", "fn f() { crate::a::f() }")], 2),
            (&[("lib.rs", "pub use a::A;"), ("a.rs", "use crate::b::B;"), ("b.rs", "use crate::A;")], 2),
            (
                &[
                    ("q/mod.rs", "pub use s::*;"),
                    ("q/s.rs", "use crate::r::R;\nstruct S;"),
                    ("r.rs", "use crate::q::S;"),
                ],
                2,
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
