//! `cargo xtask codegen`: the TypeScript types of events and records, written from the authority's own structs, the
//! OpenAPI documents, written from its operations, and the client's operations, written from those documents.
//!
//! The crates `authority-schema` and `authority-openapi` write them, since this program does not name the authority.
//! They are committed: people read them, and a change of a record or an operation shows in its review as the change
//! of the package or the API that it is.

use std::process::Command;

use anyhow::Result;

use crate::workspace::Workspace;
use crate::{process, programs};

/// What writes, and the folders it writes to.
const WRITERS: [(&str, &[&str]); 2] = [
    ("authority-schema", &["pkg/src"]),
    ("authority-openapi", &["docs/openapi", "--client", "pkg/src/client"]),
];

/// Writes the generated files, or fails when they would be written differently.
pub(crate) fn run(workspace: &Workspace, check: bool) -> Result<()> {
    let binaries = WRITERS.map(|(writer, _)| ["--bin", writer]);
    programs::build(workspace, binaries.as_flattened())?;
    for (writer, folders) in WRITERS {
        let mut command = Command::new(workspace.target().join("debug").join(writer));
        command.current_dir(workspace.root()).args(folders);
        if check {
            command.arg("--check");
        }
        process::run(&mut command)?;
    }
    Ok(())
}
