//! Every dependency that a manifest names is used by the code beside it.
//!
//! A dependency counts as used when its name stands in a source file of the package, outside comments. That is
//! cruder than asking the compiler and needs nothing installed; a dependency that is named only to switch a
//! feature on for others would be found here too, and is better asked for where it is used.

use std::collections::BTreeSet;
use std::path::Path;

use super::Finding;
use super::files::SourceFile;
use crate::workspace::Workspace;

/// One package of the workspace, as far as the rules need it.
pub(super) struct Crate {
    pub(super) name: String,
    /// Its folder relative to the root.
    pub(super) folder: String,
    /// The names of its dependencies of every kind, in the spelling of the manifest.
    pub(super) dependencies: BTreeSet<String>,
}

/// The packages of the workspace.
pub(super) fn crates(workspace: &Workspace) -> Vec<Crate> {
    let crates = workspace.packages().iter().map(|package| {
        let folder = package.manifest_path.as_std_path().parent().unwrap_or(Path::new(""));
        let folder = folder.strip_prefix(workspace.root()).unwrap_or(folder);
        Crate {
            name: package.name.to_string(),
            folder: folder.to_string_lossy().replace(std::path::MAIN_SEPARATOR, "/"),
            dependencies: package
                .dependencies
                .iter()
                .map(|dependency| dependency.rename.clone().unwrap_or_else(|| dependency.name.clone()))
                .collect(),
        }
    });
    crates.collect()
}

/// Finds dependencies whose name no source file of the package has.
pub(super) fn all_used(crates: &[Crate], files: &[SourceFile]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for package in crates {
        let words = words_of(package, crates, files);
        for dependency in &package.dependencies {
            if !words.contains(dependency.replace('-', "_").as_str()) {
                let manifest = format!("{}/Cargo.toml", package.folder);
                findings
                    .push(Finding::in_file(&manifest, format!("{dependency} is not used by the sources")));
            }
        }
    }
    findings
}

/// Finds versions in the root's `[workspace.dependencies]` that no member takes.
pub(super) fn all_shared_versions_used(files: &[SourceFile]) -> Vec<Finding> {
    let Some(root) = files.iter().find(|file| file.path == "Cargo.toml") else { return Vec::new() };
    let members: Vec<_> =
        files.iter().filter(|file| file.name() == "Cargo.toml" && file.path != "Cargo.toml").collect();
    let section = root.lines().skip_while(|(_, line)| *line != "[workspace.dependencies]").skip(1);
    let entries = section.take_while(|(_, line)| !line.starts_with('['));
    entries
        .filter_map(|(number, line)| {
            let name = line.split_once('=')?.0.trim();
            let taken = members.iter().any(|member| takes(&member.text, name));
            (!taken && !name.starts_with('#'))
                .then(|| Finding::in_line(root, number, format!("no member takes {name}")))
        })
        .collect()
}

fn takes(manifest: &str, name: &str) -> bool {
    manifest.lines().any(|line| {
        let Some((key, value)) = line.split_once('=') else { return false };
        let key = key.trim();
        key.strip_suffix(".workspace") == Some(name) || key == name && value.contains("workspace = true")
    })
}

/// Every identifier in the package's Rust files, but not in those of packages in folders below it.
fn words_of<'f>(package: &Crate, crates: &[Crate], files: &'f [SourceFile]) -> BTreeSet<&'f str> {
    let belongs = |file: &&SourceFile| {
        let owner = crates
            .iter()
            .filter(|candidate| file.path.starts_with(&format!("{}/", candidate.folder)))
            .max_by_key(|candidate| candidate.folder.len());
        file.is_rust() && owner.is_some_and(|owner| owner.name == package.name)
    };
    let own = files.iter().filter(belongs);
    own.flat_map(SourceFile::lines)
        .filter(|(_, line)| !line.trim_start().starts_with("//"))
        .flat_map(|(_, line)| line.split(|character: char| !character.is_alphanumeric() && character != '_'))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::places;
    use super::*;

    fn package(name: &str, folder: &str, dependencies: &[&str]) -> Crate {
        let dependencies = dependencies.iter().map(|name| (*name).to_owned()).collect();
        Crate { name: name.to_owned(), folder: folder.to_owned(), dependencies }
    }

    #[test]
    fn an_unused_dependency_is_found() {
        let crates =
            [package("outer", "outer", &["serde-json", "hex", "url"]), package("inner", "outer/inner", &[])];
        let files = [
            SourceFile::new("outer/src/lib.rs", "use serde_json::Value;\n//! hex in a comment\n"),
            SourceFile::new("outer/tests/a.rs", "use url::Url;\n"),
            SourceFile::new("outer/inner/src/lib.rs", "use hex::encode;\n"),
        ];
        let found = all_used(&crates, &files);
        assert_eq!(found, [Finding::in_file("outer/Cargo.toml", "hex is not used by the sources")]);
    }

    #[test]
    fn a_shared_version_that_nobody_takes_is_found() {
        let root = "[workspace.dependencies]\n# data\nhex = \"0.4\"\nurl = \"2\"\nserde = \"1\"\n\n[profile.dev]\na = 1\n";
        let files = [
            SourceFile::new("Cargo.toml", root),
            SourceFile::new(
                "a/Cargo.toml",
                "url.workspace = true\nserde = { workspace = true, features = [] }\n",
            ),
        ];
        assert_eq!(places(all_shared_versions_used(&files)), ["Cargo.toml:3"]);
    }
}
