//! Builds the npm package in `pkg/`: the core as WebAssembly, then the TypeScript around it.

use anyhow::Result;

use crate::wasm::{self, Build, Glue};
use crate::workspace::Workspace;

/// Builds `pkg/dist`.
pub(crate) fn build(workspace: &Workspace) -> Result<()> {
    wasm::build(
        workspace,
        &Build {
            package: "verify-wasm",
            out_name: "core",
            out_dir: workspace.target().join("verify-wasm"),
            glue: Glue::Bundler,
            typescript: true,
            reset_state: false,
            abort_handler: false,
            environment: &[],
        },
    )
}
