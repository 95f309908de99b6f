//! What must be there before a Worker can run: the built Worker, and Miniflare from its lock file.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{LazyLock, Once};

/// The folder of the workspace.
pub(super) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_path_buf()
}

/// The folder of the JavaScript that this kit needs.
pub(super) fn node_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("node")
}

/// The modules of the edge receiver, its entry first. Built at the first call, so that no test runs against
/// what the sources were yesterday.
pub(super) fn edge_receiver_modules() -> Vec<PathBuf> {
    static MODULES: LazyLock<Vec<PathBuf>> = LazyLock::new(|| {
        // Programs that run side by side would take the modules from under each other.
        if std::env::var_os("EDGE_RECEIVER_IS_BUILT").is_none() {
            run(crate::binary::cargo().current_dir(root()).args(["xtask", "build", "--worker"]));
        }
        let dist = root().join("edge-receiver/dist");
        let mut modules = vec![dist.join("worker.js"), dist.join("index.js"), dist.join("index_bg.wasm")];
        modules.extend(files(&dist.join("snippets")));
        modules
    });
    MODULES.clone()
}

/// The compatibility date that the edge receiver is deployed with.
pub(super) fn compatibility_date() -> String {
    let text = fs::read_to_string(root().join("edge-receiver/wrangler.jsonc")).unwrap();
    let (_, rest) = text.split_once(r#""compatibility_date": ""#).unwrap();
    rest.split('"').next().unwrap().to_owned()
}

/// Installs what `tests/node/package-lock.json` names, unless that very lock file is installed already. The
/// mark is the one that `cargo xtask` leaves, so neither repeats what the other did.
pub(super) fn install_miniflare() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        let folder = node_folder();
        let lock = fs::read(folder.join("package-lock.json")).unwrap();
        let mark = folder.join("node_modules/.installed-lock.json");
        if fs::read(&mark).is_ok_and(|installed| installed == lock) {
            return;
        }
        let arguments = ["ci", "--ignore-scripts", "--no-audit", "--no-fund"];
        run(Command::new("npm").current_dir(&folder).args(arguments));
        fs::write(&mark, lock).unwrap();
    });
}

/// The files of a folder and of those in it.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

fn run(command: &mut Command) {
    let status = command.status().unwrap_or_else(|error| panic!("{command:?} could not be started: {error}"));
    assert!(status.success(), "{command:?} failed: {status}");
}
