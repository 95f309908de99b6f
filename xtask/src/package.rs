//! Builds the npm package in `pkg/`: the core as WebAssembly, then the TypeScript around it.
//!
//! The module as base64 goes to `pkg/src/generated`, where the TypeScript sources import it; the compiler then writes
//! `pkg/dist` twice, as ES modules and as CommonJS. Beside the ES modules lies the module itself, for environments that
//! compile it at import (Workers). Everything written is git-ignored.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};
use base64::prelude::{BASE64_STANDARD, Engine as _};

use crate::wasm::{self, Build, Glue};
use crate::workspace::Workspace;
use crate::{npm, process};

/// Builds `pkg/dist`.
pub(crate) fn build(workspace: &Workspace) -> Result<()> {
    let package = workspace.root().join("pkg");
    let bindings = workspace.target().join("verify-wasm");
    npm::install(&package)?;
    wasm::build(
        workspace,
        &Build {
            package: "verify-wasm",
            out_name: "core",
            out_dir: bindings.clone(),
            glue: Glue::None,
            restartable: false,
            environment: &[],
        },
    )?;
    generate_sources(&bindings, &package.join("src/generated"))?;
    compile(&package, &bindings)?;
    // Whoever gets the package gets the terms with it.
    for licence in ["LICENSE-MIT", "LICENSE-APACHE"] {
        write(&package.join(licence), &read(&workspace.root().join(licence))?)?;
    }
    Ok(())
}

/// Puts the inlined module where the TypeScript sources expect them.
fn generate_sources(bindings: &Path, generated: &Path) -> Result<()> {
    let module = read(&bindings.join("core_bg.wasm"))?;
    let base64 = format!("export const base64: string = \"{}\";\n", BASE64_STANDARD.encode(module));
    replace_folder(generated)?;
    write(&generated.join("base64.ts"), base64.as_bytes())
}

fn compile(package: &Path, bindings: &Path) -> Result<()> {
    let dist = package.join("dist");
    replace_folder(&dist)?;
    for project in ["tsconfig.json", "tsconfig.cjs.json"] {
        process::run(npm::tool(package, "tsc").args(["--project", project]))?;
    }
    // The package as a whole is ESM; this file makes the one folder CommonJS.
    write(&dist.join("cjs/package.json"), b"{ \"type\": \"commonjs\" }\n")?;
    write(&dist.join("esm/core.wasm"), &read(&bindings.join("core_bg.wasm"))?)
}

fn replace_folder(path: &Path) -> Result<()> {
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
