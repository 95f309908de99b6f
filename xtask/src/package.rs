//! Builds the npm package in `pkg/`: the core and the explainer as WebAssembly, then the TypeScript around them.
//!
//! The modules as base64 go to `pkg/src/generated`, where the TypeScript sources import them; the compiler then writes
//! `pkg/dist` twice, as ES modules and as CommonJS, and `pkg/bundle.mjs` makes each entry point one file. Beside the ES
//! modules lie the modules themselves, for environments that compile them at import (Workers). Everything written is
//! git-ignored.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};
use base64::prelude::{BASE64_STANDARD, Engine as _};

use crate::wasm::{self, Build, Glue};
use crate::workspace::Workspace;
use crate::{npm, process};

/// A WebAssembly module of the package.
struct Module {
    /// The crate that it is built from.
    package: &'static str,
    /// The stem of its files.
    name: &'static str,
    /// The TypeScript file that holds it as base64.
    inlined: &'static str,
    /// The core is built fast. An explanation is for a person who waits: what counts is what it adds to a bundle.
    opt_level: &'static str,
}

const MODULES: [Module; 2] = [
    Module { package: "verify-wasm", name: "core", inlined: "core_base64.ts", opt_level: "3" },
    Module { package: "explain-wasm", name: "explain", inlined: "explain_base64.ts", opt_level: "z" },
];

/// Builds `pkg/dist`.
pub(crate) fn build(workspace: &Workspace) -> Result<()> {
    let package = workspace.root().join("pkg");
    npm::install(&package)?;
    for module in &MODULES {
        wasm::build(
            workspace,
            &Build {
                package: module.package,
                out_name: module.name,
                out_dir: module.folder(workspace),
                glue: Glue::None,
                restartable: false,
                environment: &[("CARGO_PROFILE_WASM_OPT_LEVEL", module.opt_level)],
            },
        )?;
    }
    generate_sources(workspace, &package.join("src/generated"))?;
    compile(workspace, &package)?;
    // Whoever gets the package gets the terms with it.
    for licence in ["LICENSE-MIT", "LICENSE-APACHE"] {
        write(&package.join(licence), &read(&workspace.root().join(licence))?)?;
    }
    Ok(())
}

/// Packs the built package for publication into `folder`; `pkg/release.mjs` says what that takes.
pub(crate) fn pack(workspace: &Workspace, folder: &Path) -> Result<()> {
    process::run(
        Command::new("node").current_dir(workspace.root().join("pkg")).arg("release.mjs").arg(folder),
    )
}

impl Module {
    fn folder(&self, workspace: &Workspace) -> PathBuf {
        workspace.target().join(self.package)
    }

    fn bytes(&self, workspace: &Workspace) -> Result<Vec<u8>> {
        read(&self.folder(workspace).join(format!("{}_bg.wasm", self.name)))
    }
}

/// Puts the inlined modules where the TypeScript sources expect them.
fn generate_sources(workspace: &Workspace, generated: &Path) -> Result<()> {
    replace_folder(generated)?;
    for module in &MODULES {
        let base64 = BASE64_STANDARD.encode(module.bytes(workspace)?);
        let source = format!("export const base64: string = \"{base64}\";\n");
        write(&generated.join(module.inlined), source.as_bytes())?;
    }
    Ok(())
}

fn compile(workspace: &Workspace, package: &Path) -> Result<()> {
    let dist = package.join("dist");
    replace_folder(&dist)?;
    for project in ["tsconfig.json", "tsconfig.cjs.json"] {
        process::run(npm::tool(package, "tsc").args(["--project", project]))?;
    }
    process::run(Command::new("node").current_dir(package).arg("bundle.mjs"))?;
    for module in &MODULES {
        let file = dist.join("esm").join(format!("{}.wasm", module.name));
        write(&file, &module.bytes(workspace)?)?;
    }
    Ok(())
}

/// Makes an empty folder, whatever was there.
pub(crate) fn replace_folder(path: &Path) -> Result<()> {
    if path.exists() {
        fs::remove_dir_all(path).with_context(|| format!("{} cannot be emptied", path.display()))?;
    }
    fs::create_dir_all(path).with_context(|| format!("{} cannot be made", path.display()))
}

fn read(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).with_context(|| format!("{} cannot be read", path.display()))
}

fn write(path: &Path, content: &[u8]) -> Result<()> {
    fs::write(path, content).with_context(|| format!("{} cannot be written", path.display()))
}
