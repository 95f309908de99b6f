//! What is in the binary, in the Worker and in the npm package: one CycloneDX 1.6 document for each, from
//! `Cargo.lock` and for the target that each is built for.
//!
//! The npm package has no dependencies of its own kind; what it carries is the crates of its modules.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use anyhow::{Context as _, Result};
use cargo_metadata::{DependencyKind, Metadata, MetadataCommand, Package, PackageId};
use serde_json::{Value, json};

use super::Release;
use crate::prerequisites::{MUSL_TARGET, WASM_TARGET};

/// The artifact, the crates that it is built from, and their target.
const ARTIFACTS: [(&str, &[&str], &str); 3] = [
    ("authority", &["authority"], MUSL_TARGET),
    ("edge-receiver", &["edge-receiver"], WASM_TARGET),
    ("verify-wasm", &["verify-wasm", "explain-wasm"], WASM_TARGET),
];

/// Writes `NAME-VERSION.cdx.json` for each artifact.
pub(super) fn write(release: &Release<'_>) -> Result<()> {
    for (name, roots, target) in ARTIFACTS {
        let metadata = MetadataCommand::new()
            .manifest_path(release.source("Cargo.toml"))
            .other_options(["--locked", "--filter-platform", target].map(str::to_owned))
            .exec()?;
        let document = document(release, name, &components(&metadata, roots)?);
        let text = serde_json::to_string_pretty(&document)? + "\n";
        fs::write(release.folder.join(format!("{name}-{}.cdx.json", release.version)), text)?;
    }
    Ok(())
}

/// Every package that ends up in an artifact of `roots`, with the names of those that it depends on. Build scripts and
/// what they use, and what only tests use, do not.
fn components<'m>(metadata: &'m Metadata, roots: &[&str]) -> Result<Vec<(&'m Package, Vec<&'m Package>)>> {
    let packages: BTreeMap<&PackageId, &Package> =
        metadata.packages.iter().map(|one| (&one.id, one)).collect();
    let resolve = metadata.resolve.as_ref().context("cargo resolved nothing")?;
    let needed = |id: &PackageId| -> Vec<&'m Package> {
        let node = resolve.nodes.iter().find(|node| node.id == *id);
        let normal = node
            .into_iter()
            .flat_map(|node| &node.deps)
            .filter(|dependency| dependency.dep_kinds.iter().any(|kind| kind.kind == DependencyKind::Normal));
        normal.filter_map(|dependency| packages.get(&dependency.pkg).copied()).collect()
    };
    let mut waiting: Vec<&Package> =
        metadata.packages.iter().filter(|package| roots.contains(&package.name.as_str())).collect();
    let mut found = BTreeSet::new();
    let mut components = Vec::new();
    while let Some(package) = waiting.pop() {
        if found.insert(&package.id) {
            let dependencies = needed(&package.id);
            waiting.extend(&dependencies);
            components.push((package, dependencies));
        }
    }
    components.sort_by_key(|(package, _)| purl(package));
    Ok(components)
}

fn document(release: &Release<'_>, name: &str, components: &[(&Package, Vec<&Package>)]) -> Value {
    let listed: Vec<Value> = components.iter().map(|(package, _)| component(package)).collect();
    let depends = |(package, needed): &(&Package, Vec<&Package>)| {
        let names: BTreeSet<String> = needed.iter().map(|one| purl(one)).collect();
        json!({"ref": purl(package), "dependsOn": names})
    };
    json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": {"type": "application", "bom-ref": name, "name": name, "version": release.version},
        },
        "components": listed,
        "dependencies": components.iter().map(depends).collect::<Vec<_>>(),
    })
}

fn component(package: &Package) -> Value {
    // Older manifests separate alternatives by a slash.
    let licenses: Vec<Value> =
        package.license.iter().map(|license| json!({"expression": license.replace('/', " OR ")})).collect();
    json!({
        "type": "library",
        "bom-ref": purl(package),
        "name": package.name.as_str(),
        "version": package.version.to_string(),
        "purl": purl(package),
        "licenses": licenses,
    })
}

fn purl(package: &Package) -> String {
    format!("pkg:cargo/{}@{}", package.name, package.version)
}
