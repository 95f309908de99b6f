//! Who may name whom (ARCHITECTURE.md): between crates, and between the rooms of the authority.
//!
//! Crates: `verify-core` ← `verify-wasm`, `verify-explain` (← `explain-wasm`), `edge-receiver`, `authority-domain` ←
//! `authority-store` ← `authority`.
//! `tests` may name everything, nothing but `bench` names `tests`, and of what is shipped only the store names the
//! database library.
//!
//! Rooms of `authority/src`: `console | portal → pages → http`, `console | portal | http | cli → app → store`,
//! `dispatch → domain + store`. The store's SQL names the driver, and neither the library below it nor a database.

use super::dependencies::Crate;
use super::files::{Part, SourceFile};
use super::{Finding, in_lines};

/// What each of our crates may name of ours.
const CRATE_EDGES: [(&str, &str); 17] = [
    ("bench", "authority-domain authority-store postgres-cluster tests verify-core"),
    // Only its tests: the reference knows nothing of ours.
    ("verify-core", "verify-reference"),
    ("verify-reference", ""),
    ("verify-timing", "verify-core"),
    ("verify-hardening", "verify-core verify-explain verify-reference"),
    ("verify-wasm", "verify-core"),
    ("verify-explain", "verify-core"),
    ("explain-wasm", "verify-core verify-explain"),
    ("edge-receiver", "verify-core"),
    ("authority-domain", "verify-core"),
    ("authority-schema", "authority-domain verify-core"),
    ("authority-openapi", "authority authority-domain authority-schema verify-core"),
    ("authority-store", "authority-domain postgres-cluster verify-core"),
    ("postgres-cluster", ""),
    ("simulation", "authority authority-domain authority-store verify-core"),
    ("authority", "authority-store postgres-cluster authority-domain verify-core verify-explain"),
    (
        "tests",
        "authority authority-store authority-domain authority-schema \
         edge-receiver postgres-cluster verify-core verify-wasm",
    ),
];

/// A folder of the authority, and the names that must not stand in it.
const ROOMS: [(&str, &str); 7] = [
    ("store/src/sql", "sqlx crate::sqlite crate::postgres"),
    ("src/console", "authority_store crate::dispatch crate::cli crate::portal"),
    ("src/portal", "authority_store crate::dispatch crate::cli crate::console"),
    ("src/pages", "authority_store crate::dispatch crate::cli crate::console crate::portal"),
    ("src/http", "authority_store crate::dispatch crate::cli crate::pages crate::console crate::portal"),
    ("src/app", "axum crate::http crate::pages crate::console crate::portal crate::cli crate::dispatch"),
    ("src/dispatch", "axum crate::http crate::pages crate::console crate::portal crate::cli crate::app"),
];

/// Crates name only the crates below them.
pub(super) fn crate_edges(crates: &[Crate]) -> Vec<Finding> {
    let ours: Vec<_> = crates.iter().map(|package| package.name.as_str()).collect();
    let mut findings = Vec::new();
    for package in crates {
        let allowed = CRATE_EDGES.iter().find(|(name, _)| *name == package.name);
        let allowed: Vec<_> = allowed.map_or("", |(_, names)| names).split(' ').collect();
        for dependency in package.dependencies.iter().map(String::as_str) {
            if ours.contains(&dependency) && !allowed.contains(&dependency) {
                let manifest = format!("{}/Cargo.toml", package.folder);
                let message = format!("{} may not depend on {dependency}", package.name);
                findings.push(Finding::in_file(&manifest, message));
            }
        }
    }
    findings
}

/// Only `authority/store` names sqlx, and the bench, which measures what stands on it.
pub(super) fn database_in_store_only(files: &[SourceFile]) -> Vec<Finding> {
    // The root manifest holds the version for all.
    let elsewhere = files.iter().filter(|file| {
        let manifest = file.name() == "Cargo.toml" && file.path != "Cargo.toml";
        (file.is_rust() || manifest)
            && !file.path.starts_with("authority/store/")
            && !file.path.starts_with("bench/")
            && !file.path.starts_with("xtask/")
    });
    in_lines(elsewhere, Part::Shipped, "only authority/store names sqlx", |line| mentions(line, "sqlx"))
}

/// The rooms of the authority name only the rooms they may.
pub(super) fn module_edges(files: &[SourceFile]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (room, forbidden) in ROOMS {
        let folder = format!("authority/{room}/");
        for name in forbidden.split(' ') {
            let inside = files.iter().filter(|file| file.path.starts_with(&folder));
            let message = format!("{room} may not name {name}");
            findings.extend(in_lines(inside, Part::Shipped, &message, |line| mentions(line, name)));
        }
    }
    findings
}

/// Whether the code of `line` has the path `name`, also as `crate::{http, …}`.
fn mentions(line: &str, name: &str) -> bool {
    let code = line.split_once("//").map_or(line, |(code, _)| code);
    let whole = |text: &str, word: &str| {
        text.match_indices(word).any(|(at, _)| {
            let before = text[..at].chars().next_back();
            let after = text[at + word.len()..].chars().next();
            !before.is_some_and(is_word) && !after.is_some_and(is_word)
        })
    };
    let grouped = |(parent, child): (&str, &str)| {
        let group = format!("{parent}::{{");
        code.split(&group).skip(1).any(|rest| whole(rest, child))
    };
    whole(code, name) || name.split_once("::").is_some_and(grouped)
}

fn is_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

#[cfg(test)]
mod tests {
    use super::super::places;
    use super::*;

    fn package(name: &str, dependencies: &[&str]) -> Crate {
        let dependencies = dependencies.iter().map(|name| (*name).to_owned()).collect();
        Crate { name: name.to_owned(), folder: name.to_owned(), dependencies }
    }

    fn messages(findings: Vec<Finding>) -> Vec<String> {
        findings.into_iter().map(|finding| finding.message).collect()
    }

    #[test]
    fn an_edge_upwards_is_found() {
        let crates = [
            package("verify-core", &["hmac"]),
            package("edge-receiver", &["verify-core", "authority-domain"]),
            package("authority-domain", &["verify-core"]),
            package("authority-store", &["authority-domain", "tests"]),
            package("tests", &["authority-store", "edge-receiver"]),
            package("xtask", &["verify-core"]),
        ];
        let expected = [
            "edge-receiver may not depend on authority-domain",
            "authority-store may not depend on tests",
            "xtask may not depend on verify-core",
        ];
        assert_eq!(messages(crate_edges(&crates)), expected);
    }

    #[test]
    fn sqlx_is_found_outside_the_store() {
        let files = [
            SourceFile::new("Cargo.toml", "sqlx = \"0.9\"\n"),
            SourceFile::new("authority/store/src/lib.rs", "use sqlx::Row;\n"),
            SourceFile::new("authority/src/main.rs", "use sqlx::Row;\n"),
            SourceFile::new("authority/Cargo.toml", "sqlx.workspace = true\n"),
            SourceFile::new("authority/src/lib.rs", "// the store hides sqlx\n"),
        ];
        assert_eq!(
            places(database_in_store_only(&files)),
            ["authority/src/main.rs:1", "authority/Cargo.toml:1"]
        );
    }

    #[test]
    fn a_room_that_names_the_wrong_room_is_found() {
        for (path, line) in [
            ("authority/src/app/order.rs", "use crate::http::Problem;"),
            ("authority/src/app/order.rs", "use crate::{clock, http};"),
            ("authority/src/app/mod.rs", "use axum::Json;"),
            ("authority/src/http/orders.rs", "use authority_store::Store;"),
            ("authority/src/http/mod.rs", "    crate::dispatch::hint();"),
            ("authority/src/dispatch/mod.rs", "use crate::app::pay;"),
            ("authority/store/src/sql/order/mod.rs", "use crate::{driver, sqlite};"),
        ] {
            assert_eq!(module_edges(&[SourceFile::new(path, line)]).len(), 1, "{path}: {line}");
        }
        for (path, line) in [
            ("authority/src/app/order.rs", "use authority_store::Store;"),
            ("authority/src/app/order.rs", "// what crate::http makes of it"),
            ("authority/src/app/order.rs", "use crate::http_version;"),
            ("authority/src/http/orders.rs", "use crate::{app, clock};"),
            ("authority/src/dispatch/mod.rs", "use authority_domain::delivery::retry;"),
            ("authority/src/main.rs", "use crate::http; use crate::dispatch;"),
        ] {
            assert_eq!(module_edges(&[SourceFile::new(path, line)]), [], "{path}: {line}");
        }
    }
}
