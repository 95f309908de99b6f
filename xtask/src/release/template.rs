//! The built Worker as a package for `npm create`: a merchant deploys it without Rust (`edge-receiver/template`).

use std::fs;
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use super::{Release, copy};
use crate::{npm, process};

/// What builds the Worker in the checkout; in the template it is built.
const BUILD: &str = "  \"build\": { \"command\": \"cargo xtask build --worker\", \"cwd\": \"..\" },\n";

/// Packs `create-edge-receiver-VERSION.tgz`.
pub(super) fn pack(release: &Release<'_>) -> Result<()> {
    let package = release.staging.join("create-edge-receiver");
    process::run(Command::new("cp").arg("-r").arg(release.source("edge-receiver/template")).arg(&package))?;
    process::run(
        Command::new("cp")
            .arg("-r")
            .arg(release.source("edge-receiver/dist"))
            .arg(package.join("files/dist")),
    )?;
    // Its links lead to the repository: the published folder has no other documents.
    let readme = fs::read_to_string(release.source("edge-receiver/README.md"))?
        .replace("](../docs/", &format!("]({}/blob/HEAD/docs/", release.repository));
    fs::write(package.join("files/dist/README.md"), readme)?;
    let settings = fs::read_to_string(release.source("edge-receiver/wrangler.jsonc"))?;
    fs::write(package.join("files/wrangler.jsonc"), without_build(&settings)?)?;
    for licence in ["LICENSE-APACHE", "LICENSE-MIT"] {
        copy(&release.source(licence), &package.join(licence))?;
    }
    let manifest = package.join("package.json");
    let text =
        fs::read_to_string(&manifest)?.replace("\"0.0.0\"", &format!("\"{}\"", release.version)).replacen(
            "  \"license\"",
            &format!(
                "  \"repository\": {{ \"type\": \"git\", \"url\": \"git+{}.git\" }},\n  \"license\"",
                release.repository
            ),
            1,
        );
    fs::write(&manifest, text)?;
    process::run(npm::npm(&package).args(["pack", "--silent", "--pack-destination"]).arg(&release.folder))
        .context("npm could not pack the template")
}

/// The Worker's settings as they are where it is not built.
fn without_build(settings: &str) -> Result<String> {
    ensure!(
        settings.matches(BUILD).count() == 1,
        "wrangler.jsonc has another build command than the one known here"
    );
    Ok(settings.replace(BUILD, ""))
}
