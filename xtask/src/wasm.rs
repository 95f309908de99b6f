//! Builds one crate for `wasm32-unknown-unknown` and writes its module.
//!
//! Two steps: cargo with the `wasm` profile, then what makes the module ready to be loaded. The modules of the npm
//! package take and give numbers only and need no glue: what remains is to leave out sections that nobody reads. The
//! Worker's crate speaks through wasm-bindgen, which runs as a library (its version is pinned in the workspace's
//! `Cargo.toml`) and writes the JavaScript beside the module.
//!
//! Paths of this machine are mapped away, so that the same sources give the same bytes in any folder.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use wasm_bindgen_cli_support::Bindgen;

use crate::package::replace_folder;
use crate::prerequisites::{self, WASM_TARGET};
use crate::process;
use crate::workspace::Workspace;

/// What every supported runtime has beyond the basic instruction set. With it SHA-256 is 12 to 20 % faster, and
/// its code smaller.
const TARGET_FEATURES: &str = "+simd128";

/// How JavaScript gets hold of the compiled module.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Glue {
    /// In its own way: the module has no imports, and there is no JavaScript beside it.
    None,
    /// One `<name>.js` that takes the module by a source phase import (`import source wasm from …`).
    SourcePhase,
}

/// One crate to build, and how.
pub(crate) struct Build<'a> {
    /// Package name; its library must be a `cdylib`.
    pub(crate) package: &'a str,
    /// Stem of the files written.
    pub(crate) out_name: &'a str,
    /// Folder for the glue and the module. Emptied first, so that no file of an earlier build survives.
    pub(crate) out_dir: PathBuf,
    pub(crate) glue: Glue,
    /// Let the glue take a fresh instance after a panic: export `__wbg_reset_state`, and mark an instance that aborts
    /// as dead, so that the next call is refused instead of run on broken state.
    pub(crate) restartable: bool,
    /// Extra environment of the cargo call.
    pub(crate) environment: &'a [(&'a str, &'a str)],
}

/// Compiles `build.package` and writes glue and module to `build.out_dir`.
pub(crate) fn build(workspace: &Workspace, build: &Build<'_>) -> Result<()> {
    prerequisites::wasm_target()?;
    let places = machine_paths(workspace)?;
    let module = compile(workspace, build, &places)?;
    replace_folder(&build.out_dir)?;
    match build.glue {
        Glue::None => without_glue(&module, build)?,
        Glue::SourcePhase => bind(&module, build)?,
    }
    let bound = build.out_dir.join(format!("{}_bg.wasm", build.out_name));
    let bytes = std::fs::read(&bound).with_context(|| format!("{} was not written", bound.display()))?;
    for (path, _) in &places {
        ensure!(
            !contains(&bytes, path),
            "{} names {}, a folder of this machine",
            bound.display(),
            path.display()
        );
    }
    Ok(())
}

fn compile(workspace: &Workspace, build: &Build<'_>, places: &[(PathBuf, &str)]) -> Result<PathBuf> {
    let mut flags: Vec<_> =
        places.iter().map(|(path, name)| format!("--remap-path-prefix={}={name}", path.display())).collect();
    flags.push(format!("-Ctarget-feature={TARGET_FEATURES}"));
    let mut cargo = process::cargo_in(workspace);
    cargo
        .args(["build", "--package", build.package, "--lib"])
        .args(["--profile", "wasm", "--target", WASM_TARGET])
        // Separated by 0x1f, so that blanks in paths are harmless.
        .env("CARGO_ENCODED_RUSTFLAGS", flags.join("\u{1f}"))
        .envs(build.environment.iter().copied());
    process::run(&mut cargo)?;
    let file = format!("{}.wasm", build.package.replace('-', "_"));
    Ok(workspace.target().join(WASM_TARGET).join("wasm").join(file))
}

fn bind(module: &Path, build: &Build<'_>) -> Result<()> {
    let mut bindgen = Bindgen::new();
    bindgen
        .input_path(module)
        .out_name(build.out_name)
        .typescript(false)
        .remove_name_section(true)
        .remove_producers_section(true)
        .reset_state_function(build.restartable)
        .force_enable_abort_handler(build.restartable);
    bindgen.module(true)?;
    bindgen.generate(&build.out_dir).with_context(|| format!("wasm-bindgen cannot read {}", module.display()))
}

/// Writes the module as it was compiled, without names and other sections that no runtime reads.
fn without_glue(module: &Path, build: &Build<'_>) -> Result<()> {
    let bytes = std::fs::read(module).with_context(|| format!("{} cannot be read", module.display()))?;
    let bare = without_custom_sections(&bytes)
        .with_context(|| format!("{} is no WebAssembly module", module.display()))?;
    let target = build.out_dir.join(format!("{}_bg.wasm", build.out_name));
    std::fs::write(&target, bare).with_context(|| format!("{} cannot be written", target.display()))
}

/// The module without sections of kind 0. `None` when the sections do not fill the module exactly.
fn without_custom_sections(module: &[u8]) -> Option<Vec<u8>> {
    const HEADER: usize = 8;
    let (header, mut rest) = module.split_at_checked(HEADER)?;
    let mut bare = header.to_vec();
    while let [kind, after @ ..] = rest {
        let (length, after) = leb128(after)?;
        let (_, next) = after.split_at_checked(length)?;
        if *kind != 0 {
            bare.extend_from_slice(rest.get(..rest.len() - next.len())?);
        }
        rest = next;
    }
    Some(bare)
}

/// The number that `bytes` begin with, seven bits to a byte, lowest first, and what follows it.
fn leb128(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let mut number = 0;
    for (index, byte) in bytes.iter().enumerate().take(5) {
        number |= usize::from(byte & 0x7f) << (7 * index);
        if byte & 0x80 == 0 {
            return Some((number, bytes.get(index + 1..)?));
        }
    }
    None
}

/// Every folder of this machine that the compiler could write into the module, and what it writes instead.
fn machine_paths(workspace: &Workspace) -> Result<[(PathBuf, &'static str); 4]> {
    let cargo_home = match std::env::var_os("CARGO_HOME") {
        Some(path) => PathBuf::from(path),
        None => std::env::home_dir().context("neither CARGO_HOME nor HOME is set")?.join(".cargo"),
    };
    // The last remap that matches wins, so the checkout comes before folders that may lie inside it.
    Ok([
        (workspace.root().to_path_buf(), "/checkout"),
        (workspace.target().to_path_buf(), "/target"),
        (cargo_home, "/cargo"),
        (prerequisites::sysroot()?, "/rust"),
    ])
}

fn contains(bytes: &[u8], path: &Path) -> bool {
    let path = path.as_os_str().as_encoded_bytes();
    bytes.windows(path.len()).any(|window| window == path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn custom_sections_are_left_out_and_the_others_stay() {
        let header = b"\0asm\x01\0\0\0";
        let types = [1, 4, 1, 0x60, 0, 0];
        let name = [0, 5, 4, b'n', b'a', b'm', b'e'];
        let module = [&header[..], &name, &types, &name].concat();
        assert_eq!(without_custom_sections(&module).unwrap(), [&header[..], &types].concat());
        assert_eq!(without_custom_sections(&module[..module.len() - 1]), None);
        assert_eq!(without_custom_sections(b"\0asm"), None);
    }

    #[test]
    fn lengths_of_more_than_one_byte() {
        assert_eq!(leb128(&[0xe5, 0x8e, 0x26, 7]), Some((624_485, &[7][..])));
        assert_eq!(leb128(&[0x80]), None);
    }
}
