//! Takes the viewer of `/docs` out of the archive in which its crate has it, and leaves it compressed: an entry of a
//! ZIP archive and a gzip file hold the same stream, with the same checksum and length around it (RFC 1952).
//!
//! Two files of the archive and its licence are wanted, so that the service grows by less than half a megabyte.

use std::error::Error;
use std::io::{Cursor, Read as _};
use std::path::Path;
use std::{env, fs};

use utoipa_swagger_ui_vendored::SWAGGER_UI_VENDORED;
use zip::{CompressionMethod, ZipArchive};

const WANTED: [&str; 3] = ["dist/swagger-ui-bundle.js", "dist/swagger-ui.css", "LICENSE"];

/// Magic number, the method deflate, no flags, no time, no hint, made by who knows whom.
const GZIP_HEAD: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    let folder = env::var_os("OUT_DIR").ok_or("cargo sets OUT_DIR")?;
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
        fs::write(Path::new(&folder).join(file).with_added_extension("gz"), gzip)?;
    }
    Ok(())
}
