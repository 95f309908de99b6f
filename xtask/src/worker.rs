//! Builds the Worker: `edge-receiver/dist/`, ready for `wrangler deploy` and for the tests in workerd.
//!
//! The crate is compiled and bound like every other module; then two things make a Worker of it. The glue asks
//! for its module by a source phase import, which neither workerd nor wrangler's bundler knows: there, a plain
//! import of a `.wasm` file is the compiled module already. And the entry `worker.js`, which revives the module
//! after a panic, is put beside the glue.
//!
//! Absent on purpose: a bundler. workerd takes modules as they are, and wrangler bundles when it deploys.

use std::fs;

use anyhow::{Context as _, Result, ensure};

use crate::wasm::{self, Build, Glue};
use crate::workspace::Workspace;

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
            // The futures of js-sys instead of those of wasm-bindgen-futures, as the worker crate expects.
            environment: &[("WASM_BINDGEN_USE_JS_SYS", "1")],
        },
    )?;
    let glue = dist.join("index.js");
    let text = fs::read_to_string(&glue).with_context(|| format!("{} cannot be read", glue.display()))?;
    fs::write(&glue, plain_import(&text)?)?;
    let entry = crate_dir.join("src/worker.js");
    fs::copy(&entry, dist.join("worker.js"))
        .with_context(|| format!("{} cannot be copied", entry.display()))?;
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
