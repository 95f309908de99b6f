//! Prepares what the program ships besides its code, so that no request waits for it: the documents as Markdown
//! (`documents.rs`), the OpenAPI documents compressed, and the viewer of `/docs`.
//!
//! The viewer is taken out of the archive in which its crate has it, and left compressed: an entry of a ZIP archive
//! and a gzip file hold the same stream, with the same checksum and length around it (RFC 1952). Two files of the
//! archive and its licence are wanted, so that the service grows by less than half a megabyte.

mod documents;
mod index;
#[path = "../src/documentation/list.rs"]
mod list;
mod markdown;
mod reference;
mod schema;

use std::error::Error;
use std::io::{Cursor, Read as _, Write as _};
use std::path::Path;
use std::{env, fs};

use flate2::Compression;
use flate2::write::GzEncoder;
use utoipa_swagger_ui_vendored::SWAGGER_UI_VENDORED;
use zip::{CompressionMethod, ZipArchive};

/// The OpenAPI documents, beside this crate.
const DOCUMENTS: [&str; 2] = ["merchant.json", "operator.json"];

const WANTED: [&str; 3] = ["dist/swagger-ui-bundle.js", "dist/swagger-ui.css", "LICENSE"];

/// Magic number, the method deflate, no flags, no time, no hint, made by who knows whom.
const GZIP_HEAD: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build");
    let folder = env::var_os("OUT_DIR").ok_or("cargo sets OUT_DIR")?;
    let folder = Path::new(&folder);
    for document in DOCUMENTS {
        let path = format!("../docs/openapi/{document}");
        println!("cargo::rerun-if-changed={path}");
        write_compressed(folder, document, &fs::read(&path)?)?;
    }
    documents::write(folder)?;
    write_viewer(folder)
}

/// Writes `name` with `.gz` behind it.
fn write_compressed(folder: &Path, name: &str, bytes: &[u8]) -> Result<(), Box<dyn Error>> {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
    gzip.write_all(bytes)?;
    Ok(fs::write(folder.join(name).with_added_extension("gz"), gzip.finish()?)?)
}

fn write_viewer(folder: &Path) -> Result<(), Box<dyn Error>> {
    let mut archive = ZipArchive::new(Cursor::new(SWAGGER_UI_VENDORED))?;
    for wanted in WANTED {
        // The first part of every name is the version.
        let of_archive = |name: &str| name.split_once('/').is_some_and(|(_, rest)| rest == wanted);
        let index = archive.file_names().position(|name| name.is_ok_and(|name| of_archive(&name)));
        let index = index.ok_or_else(|| format!("the archive lacks {wanted}"))?;
        let mut entry = archive.by_index_raw(index)?;
        if entry.compression() != CompressionMethod::DEFLATE {
            return Err(format!("{wanted} is not deflated").into());
        }
        let mut gzip = GZIP_HEAD.to_vec();
        entry.read_to_end(&mut gzip)?;
        gzip.extend(entry.crc32().to_le_bytes());
        gzip.extend(u32::try_from(entry.size())?.to_le_bytes());
        let file = Path::new(wanted).file_name().ok_or("a file has a name")?;
        fs::write(folder.join(file).with_added_extension("gz"), gzip)?;
    }
    Ok(())
}
