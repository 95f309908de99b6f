//! Where things are: what `cargo metadata` says of the workspace this program was called in.
//!
//! Asked once at the start; every step takes its paths from here, so that `cargo xtask` works from any folder
//! of the checkout and with any `CARGO_TARGET_DIR`.

use std::path::Path;

use anyhow::{Context as _, Result};
use cargo_metadata::{Metadata, MetadataCommand, Package};

/// The workspace's folders and packages.
pub(crate) struct Workspace {
    metadata: Metadata,
}

impl Workspace {
    /// Asks cargo for the workspace of the current folder.
    pub(crate) fn find() -> Result<Self> {
        let metadata = MetadataCommand::new()
            .no_deps()
            .exec()
            .context("`cargo metadata` failed: run `cargo xtask` inside the checkout")?;
        Ok(Self { metadata })
    }

    /// The folder of the workspace's `Cargo.toml`.
    pub(crate) fn root(&self) -> &Path {
        self.metadata.workspace_root.as_std_path()
    }

    /// The folder that cargo builds into.
    pub(crate) fn target(&self) -> &Path {
        self.metadata.target_directory.as_std_path()
    }

    /// The workspace's own packages.
    pub(crate) fn packages(&self) -> &[Package] {
        &self.metadata.packages
    }
}
