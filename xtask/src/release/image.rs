//! The OCI image, made of nothing but the binary, the certificates of public authorities, a user without rights, and a
//! folder for its data: one layer, no shell.
//!
//! An image is a few JSON documents and archives, each named by its digest (OCI image specification 1.1), so that no
//! program for containers is needed to write one. It is handed out as an archive of that layout, which `skopeo`,
//! `podman` and `ctr` read.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use super::{Release, copy};
use crate::process;

/// Debian's bundle; the binary has Mozilla's as well, for a machine without any.
const CERTIFICATES: &str = "etc/ssl/certs/ca-certificates.crt";

/// Whose processes these are: the number that images without users agreed on for "nobody in particular".
const USER: &str = "65532:65532";

const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";

/// A file of the layout, which is named by its digest.
struct Blob {
    digest: String,
    size: u64,
}

/// Packs `authority-VERSION-image.tar`.
pub(super) fn pack(release: &Release<'_>, binary: &Path) -> Result<()> {
    let layout = release.staging.join("image");
    let blobs = layout.join("blobs/sha256");
    fs::create_dir_all(&blobs)?;
    let (layer, diff_id) = layer(release, binary, &blobs)?;
    let config = blob(&blobs, &config(release, &diff_id)?)?;
    let manifest = json!({
        "schemaVersion": 2,
        "mediaType": MANIFEST,
        "config": {"mediaType": "application/vnd.oci.image.config.v1+json", "digest": config.digest, "size": config.size},
        "layers": [
            {"mediaType": "application/vnd.oci.image.layer.v1.tar+gzip", "digest": layer.digest, "size": layer.size},
        ],
    });
    let manifest = blob(&blobs, &manifest)?;
    let index = json!({
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.index.v1+json",
        "manifests": [{
            "mediaType": MANIFEST,
            "digest": manifest.digest,
            "size": manifest.size,
            "platform": {"architecture": "amd64", "os": "linux"},
            "annotations": {"org.opencontainers.image.ref.name": release.version},
        }],
    });
    fs::write(layout.join("index.json"), index.to_string())?;
    fs::write(layout.join("oci-layout"), json!({"imageLayoutVersion": "1.0.0"}).to_string())?;
    let archive = release.folder.join(format!("authority-{}-image.tar", release.version));
    release.tar(&layout, &["oci-layout", "index.json", "blobs"], &archive, false)
}

/// The files of the image: the compressed layer, and the digest of the uncompressed one.
fn layer(release: &Release<'_>, binary: &Path, blobs: &Path) -> Result<(Blob, String)> {
    let root = release.staging.join("image-root");
    copy(binary, &root.join("usr/bin/authority"))?;
    copy(&Path::new("/").join(CERTIFICATES), &root.join(CERTIFICATES))?;
    fs::write(root.join("etc/passwd"), "authority:x:65532:65532::/data:/sbin/nologin\n")?;
    fs::write(root.join("etc/group"), "authority:x:65532:\n")?;
    for folder in ["data", "tmp"] {
        fs::create_dir(root.join(folder))?;
    }
    let tar = release.staging.join("layer.tar");
    release.tar(&root, &["etc", "usr"], &tar, false)?;
    // The one folder that the user may write, and that a volume takes its owner from.
    let writable = release.staging.join("writable.tar");
    process::run(
        Command::new("tar")
            .args([
                "--create",
                "--format=gnu",
                "--sort=name",
                "--numeric-owner",
                "--owner=65532",
                "--group=65532",
            ])
            .arg(format!("--mtime=@{}", release.time))
            .args(["--mode=0700", "--file"])
            .arg(&writable)
            .arg("--directory")
            .arg(&root)
            .args(["data", "tmp"]),
    )?;
    process::run(Command::new("tar").args(["--concatenate", "--file"]).arg(&tar).arg(&writable))?;
    let diff_id = digest(&tar)?;
    process::run(Command::new("gzip").args(["-9", "--no-name"]).arg(&tar))?;
    let compressed = tar.with_extension("tar.gz");
    fs::set_permissions(&compressed, fs::Permissions::from_mode(0o644))?;
    Ok((named(blobs, &compressed)?, diff_id))
}

fn config(release: &Release<'_>, diff_id: &str) -> Result<Value> {
    let created = process::read(Command::new("date").args([
        "--utc",
        "--date",
        &format!("@{}", release.time),
        "+%Y-%m-%dT%H:%M:%SZ",
    ]))?;
    Ok(json!({
        "created": created,
        "architecture": "amd64",
        "os": "linux",
        "config": {
            "User": USER,
            "Entrypoint": ["/usr/bin/authority"],
            "Cmd": ["serve"],
            "WorkingDir": "/data",
            "Volumes": {"/data": {}},
            "ExposedPorts": {"8080/tcp": {}, "8081/tcp": {}},
            "StopSignal": "SIGTERM",
            "Labels": {
                "org.opencontainers.image.title": "authority",
                "org.opencontainers.image.description": "Commerce authority with signed webhooks",
                "org.opencontainers.image.version": release.version,
                "org.opencontainers.image.source": release.repository,
                "org.opencontainers.image.licenses": "MIT OR Apache-2.0",
            },
        },
        "rootfs": {"type": "layers", "diff_ids": [diff_id]},
        "history": [{"created": created, "created_by": "cargo xtask release"}],
    }))
}

/// Writes a document among the blobs.
fn blob(blobs: &Path, content: &Value) -> Result<Blob> {
    let unnamed = blobs.join("unnamed");
    fs::write(&unnamed, content.to_string())?;
    named(blobs, &unnamed)
}

/// Moves a file to the blobs, under its digest.
fn named(blobs: &Path, file: &Path) -> Result<Blob> {
    let blob = Blob { digest: digest(file)?, size: fs::metadata(file)?.len() };
    fs::rename(file, blobs.join(blob.digest.trim_start_matches("sha256:")))?;
    Ok(blob)
}

fn digest(file: &Path) -> Result<String> {
    let line = process::read(Command::new("sha256sum").arg(file))?;
    Ok(format!("sha256:{}", line.split_whitespace().next().context("sha256sum printed nothing")?))
}
