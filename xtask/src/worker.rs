//! Builds the Worker: `edge-receiver/dist/`, ready for `wrangler deploy` and for the tests in workerd.
//!
//! The crate is compiled and bound like every other module; then two things make a Worker of it. The glue asks
//! for its module by a source phase import, which neither workerd nor wrangler's bundler knows: there, a plain
//! import of a `.wasm` file is the compiled module already. And the entry `worker.js`, which revives the module
//! after a panic, is put beside the glue.
//!
//! What came of it is weighed: a Worker that grows beyond its bound is no longer built.
//!
//! Absent on purpose: a bundler. workerd takes modules as they are, and wrangler bundles when it deploys.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use crate::process;
use crate::wasm::{self, Build, Glue};
use crate::workspace::Workspace;

/// The most that the Worker may weigh, all of its modules compressed with gzip as for the upload, in bytes.
const COMPRESSED_MAX: usize = 110_000;

/// Prints the size of all files in a folder, as they are and compressed.
const WEIGH: &str = r#"
const { readFileSync, readdirSync, statSync } = require("node:fs");
const { gzipSync } = require("node:zlib");
const paths = readdirSync(process.argv[1], { recursive: true }).map((name) => `${process.argv[1]}/${name}`);
const files = paths.filter((path) => statSync(path).isFile()).map((path) => readFileSync(path));
const sum = (sizes) => sizes.reduce((sum, size) => sum + size, 0);
console.log(sum(files.map((file) => file.length)), sum(files.map((file) => gzipSync(file, { level: 9 }).length)));
"#;

/// The futures of js-sys instead of those of wasm-bindgen-futures, as the worker crate expects.
pub(crate) const ENVIRONMENT: [(&str, &str); 1] = [("WASM_BINDGEN_USE_JS_SYS", "1")];

/// Builds `edge-receiver/dist`.
pub(crate) fn build(workspace: &Workspace) -> Result<()> {
    let crate_dir = workspace.root().join("edge-receiver");
    let dist = crate_dir.join("dist");
    wasm::build(
        workspace,
        &Build {
            package: "edge-receiver",
            out_name: "index",
            out_dir: dist.clone(),
            glue: Glue::SourcePhase,
            restartable: true,
            environment: &ENVIRONMENT,
        },
    )?;
    let glue = dist.join("index.js");
    let text = fs::read_to_string(&glue).with_context(|| format!("{} cannot be read", glue.display()))?;
    fs::write(&glue, plain_import(&text)?)?;
    let entry = crate_dir.join("src/worker.js");
    fs::copy(&entry, dist.join("worker.js"))
        .with_context(|| format!("{} cannot be copied", entry.display()))?;
    weigh(&dist)
}

/// Says what the Worker weighs, and refuses one that is too heavy.
fn weigh(dist: &Path) -> Result<()> {
    let sizes = process::read(Command::new("node").args(["--eval", WEIGH]).arg(dist))?;
    let (raw, compressed) = sizes.split_once(' ').context("node did not print two sizes")?;
    println!("the Worker has {raw} bytes, {compressed} compressed");
    let compressed: usize = compressed.parse()?;
    ensure!(compressed <= COMPRESSED_MAX, "{compressed} compressed bytes are more than {COMPRESSED_MAX}");
    Ok(())
}

/// The glue with its one source phase import made a plain one.
fn plain_import(glue: &str) -> Result<String> {
    const SOURCE_PHASE: &str = "import source ";
    let found = glue.matches(SOURCE_PHASE).count();
    ensure!(found == 1, "the glue of wasm-bindgen has {found} source phase imports; one was expected");
    Ok(glue.replace(SOURCE_PHASE, "import "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_one_source_phase_import_becomes_a_plain_one() {
        let glue = "import { a } from './a.js';\nimport source wasmModule from \"./index_bg.wasm\";\n";
        let plain = plain_import(glue).unwrap();
        assert_eq!(plain, "import { a } from './a.js';\nimport wasmModule from \"./index_bg.wasm\";\n");
        assert!(plain_import(&plain).is_err());
    }
}
