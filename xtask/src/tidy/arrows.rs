//! Which file of a crate needs which: an arrow for every path in its code, but for its tests, that leads to another
//! file.
//!
//! A path begins with `crate::`, `super::`, `self::`, a module below, or a module that was imported. It is followed to
//! the file that declares the item: what a module passes on with `pub use` is that of the file it has it from, and an
//! arrow of its own only where the module uses it, too. Deliberately absent: methods, which have no path; comments; and
//! modules within a file.

use std::collections::{BTreeMap, BTreeSet};

use super::files::{Part, SourceFile};

/// The files below `root`, each with those that it needs, by their paths.
pub(super) fn arrows<'f>(
    root: &str,
    files: impl Iterator<Item = &'f SourceFile>,
) -> BTreeMap<&'f str, BTreeSet<&'f str>> {
    let modules: Modules<'_> = files.map(|file| (name_of(root, file), Module::new(root, file))).collect();
    let needed = |module: &Module<'f>| {
        let held = module.needs.iter().filter_map(|path| holder(&modules, path, 0));
        held.filter(|needed| *needed != module.file.path).collect()
    };
    modules.values().map(|module| (module.file.path.as_str(), needed(module))).collect()
}

/// A path from the root of the crate.
type Path = Vec<String>;

type Modules<'f> = BTreeMap<Path, Module<'f>>;

struct Module<'f> {
    file: &'f SourceFile,
    code: String,
    needs: Vec<Path>,
    /// What it passes on: under which name, `*` for all names, and what.
    passes_on: Vec<(String, Path)>,
}

impl<'f> Module<'f> {
    fn new(root: &str, file: &'f SourceFile) -> Self {
        let own = name_of(root, file);
        let code: String = file
            .lines_of(Part::Shipped)
            .map(|(_, line)| line.split_once("//").map_or(line, |(code, _)| code))
            .flat_map(|line| [line.trim(), " "])
            .collect();
        let (code, exports) = without_exports(&code);
        let mut passes_on = Vec::new();
        for export in &exports {
            read(export, &own, &mut passes_on);
        }
        let mut named = Vec::new();
        for (at, word) in words(&code) {
            let rest = code.get(at..).unwrap_or("");
            let begins = !code
                .get(..at)
                .is_some_and(|before| before.ends_with([':', '.']) || before.ends_with("pub(in "));
            let child = code.contains(&format!("mod {word};"));
            if begins && rest.starts_with(&format!("{word}::")) && (child || ROOTS.contains(&word)) {
                read(rest, &own, &mut named);
            }
        }
        // The declaration of a module of that name is no use of it.
        let is_use = |at: usize| !code.get(..at).is_some_and(|before| before.ends_with("mod "));
        let is_used = |name: &str| words(&code).any(|(at, word)| word == name && is_use(at));
        named.extend(passes_on.iter().filter(|(name, _)| is_used(name)).cloned());
        let mut needs: Vec<Path> = named.iter().map(|(_, path)| path.clone()).collect();
        for (name, path) in &named {
            for (at, _) in words(&code).filter(|(_, word)| word == name) {
                let before = code.get(..at).unwrap_or("");
                let Some(behind) = code.get(at + name.len()..).and_then(|rest| rest.strip_prefix("::"))
                else {
                    continue;
                };
                if !before.ends_with(':') {
                    let mut below = Vec::new();
                    continued(behind, &mut path.clone(), &mut below);
                    needs.extend(below.into_iter().map(|(_, path)| path));
                }
            }
        }
        Self { file, code, needs, passes_on }
    }
}

/// How a path begins that stays in the crate.
const ROOTS: [&str; 3] = ["crate", "super", "self"];

/// The module that a file is.
fn name_of(root: &str, file: &SourceFile) -> Path {
    let path = file.path.strip_prefix(root).unwrap_or(&file.path);
    let path = path.strip_suffix(".rs").unwrap_or(path);
    path.split('/').filter(|part| !matches!(*part, "mod" | "lib")).map(str::to_owned).collect()
}

/// The words of code, each with its place.
fn words(code: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let begins = move |(at, c): &(usize, char)| {
        is_part(*c) && !code.get(..*at).and_then(|before| before.chars().next_back()).is_some_and(is_part)
    };
    code.char_indices().filter(begins).map(move |(at, _)| {
        let rest = code.get(at..).unwrap_or("");
        (at, rest.split(|c| !is_part(c)).next().unwrap_or(""))
    })
}

/// The code without what it passes on, and the paths of that.
fn without_exports(code: &str) -> (String, Vec<String>) {
    let (mut left, mut exports) = (String::new(), Vec::new());
    for (index, piece) in code.split("pub").enumerate() {
        let export = piece.split_once("use ").filter(|(before, _)| {
            index > 0 && (before.trim().is_empty() || before.starts_with('(') && before.trim().ends_with(')'))
        });
        match export.and_then(|(_, path)| path.split_once(';')) {
            Some((path, behind)) => {
                exports.push(path.to_owned());
                left.push_str(behind);
            }
            None => {
                left.push_str(if index > 0 { "pub" } else { "" });
                left.push_str(piece);
            }
        }
    }
    (left, exports)
}

/// Reads the paths that `code` begins with, a group of them written out, each with the name that it has then.
fn read(code: &str, own: &[String], found: &mut Vec<(String, Path)>) {
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

/// Reads one path, or a group of them, behind `before`, and returns what stands behind it.
fn continued<'c>(code: &'c str, before: &mut Path, found: &mut Vec<(String, Path)>) -> &'c str {
    let depth = before.len();
    let mut rest = code.trim_start();
    loop {
        if let Some(mut group) = rest.strip_prefix('{') {
            while !group.trim_start().starts_with('}') && !group.is_empty() {
                group = continued(group, before, found).trim_start();
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
                let alias = behind.trim_start().strip_prefix("as ").and_then(|rest| words(rest).next());
                let last = before.last().map_or("", String::as_str);
                let known_as =
                    if behind.starts_with('*') { "*" } else { alias.map_or(last, |(_, word)| word) };
                found.push((known_as.to_owned(), before.clone()));
                rest = behind;
                break;
            }
        }
    }
    before.truncate(depth);
    rest
}

/// More modules than this pass nothing on to one another.
const STEPS_MAX: usize = 8;

/// The file that declares what `path` names. `None` for what is in no file of the crate.
fn holder<'f>(modules: &Modules<'f>, path: &[String], steps: usize) -> Option<&'f str> {
    let depth = (0..=path.len())
        .rev()
        .find(|depth| path.get(..*depth).is_some_and(|name| modules.contains_key(name)))?;
    let (found, items) = path.split_at(depth);
    let module = modules.get(found)?;
    let passed_on = items.split_first().filter(|_| steps < STEPS_MAX).and_then(|(item, below)| {
        let by_name = module.passes_on.iter().filter(|(name, _)| name == item);
        let by_name = by_name.map(|(_, source)| [source.as_slice(), below].concat());
        let of_all = module.passes_on.iter().filter(|(name, _)| name == "*");
        let of_all = of_all.filter(|(_, source)| {
            modules.get(source).is_some_and(|all| words(&all.code).any(|(_, word)| word == item))
        });
        let of_all = of_all.map(|(_, source)| [source.as_slice(), items].concat());
        by_name.chain(of_all).find_map(|source| holder(modules, &source, steps + 1))
    });
    Some(passed_on.unwrap_or(&module.file.path))
}
