//! The directory that `authority dev` works in, and the files that it stores there between runs (contract 16).
//!
//! | File | Holds |
//! |---|---|
//! | `authority.db` | the authority's database |
//! | `kek` | the key-encryption key, made at the first run, mode 0600 |
//! | `inbox.db` | the built-in receiver's inbox |
//! | `dev.json` | what the next run uses again: ids, keys, the signing secret; mode 0600 |
//! | `env` | the two keys as a shell reads them (`. .authority-dev/env`), mode 0600 |
//!
//! The keys and ids stay the same, so that a program built against them works in later runs. A file is written under a
//! temporary name and then renamed, so that a crash leaves either the old or the new file. A new directory is closed to
//! other users and ignored by git, because it holds secrets. Deliberately absent: repair. If one of the files is lost,
//! remove the whole directory.

use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tempfile::NamedTempFile;

use crate::dice::Dice;
use crate::secret_box::Kek;

const DATABASE: &str = "authority.db";
const KEK: &str = "kek";
const INBOX: &str = "inbox.db";
const KEPT: &str = "dev.json";
const ENV: &str = "env";

/// Why the directory cannot be used. The messages name files, never their content.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DataDirError {
    /// The path cannot be part of a database address.
    #[error("the path must be text without a question mark")]
    Path,
    /// The file system reported an error.
    #[error("{path}: {source}")]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// A file is not in the form that `dev` writes.
    #[error("{path} is not what `authority dev` wrote: remove the directory to start anew")]
    Altered {
        /// The file.
        path: PathBuf,
    },
    /// The database exists, but the key that seals its secrets is missing.
    #[error(
        "{path} is missing, and the database beside it cannot be read without: remove the directory to start anew"
    )]
    KeyLost {
        /// The path where the key should be.
        path: PathBuf,
    },
}

/// The data that one run saves for the next. Has no `Debug`: it holds keys.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct SavedState {
    /// The operator key.
    pub(crate) operator_key: Option<String>,
    /// The merchant `demo`.
    pub(crate) merchant_id: Option<String>,
    /// The merchant's test key.
    pub(crate) merchant_key: Option<String>,
    /// The endpoint of the built-in receiver.
    pub(crate) endpoint: Option<SavedEndpoint>,
    /// The cursor after the events of the last run, so that the next run need not read the whole history.
    pub(crate) events_cursor: Option<String>,
}

/// The endpoint of the built-in receiver. Has no `Debug`: it holds the signing secret.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct SavedEndpoint {
    /// Its id.
    pub(crate) id: String,
    /// Its signing secret, with which the receiver verifies.
    pub(crate) secret: String,
    /// The loopback port in its URL, where the receiver has to listen.
    pub(crate) port: u16,
}

/// An open data directory.
pub(crate) struct DataDir {
    path: PathBuf,
    /// Whether an earlier run created the database.
    pub(crate) used: bool,
    /// The key-encryption key.
    pub(crate) kek: Kek,
    /// The data saved by the previous run; call [`DataDir::keep`] after a change.
    pub(crate) kept: SavedState,
}

impl DataDir {
    /// Opens the directory. Creates it and its key if they do not exist.
    ///
    /// # Errors
    /// [`DataDirError`].
    pub(crate) fn open(path: &Path, dice: &dyn Dice) -> Result<Self, DataDirError> {
        if path.to_str().is_none_or(|text| text.contains('?')) {
            return Err(DataDirError::Path);
        }
        if !path.exists() {
            create(path)?;
        }
        let used = path.join(DATABASE).exists();
        let kek = match read(&path.join(KEK))? {
            Some(text) => Kek::parse(text.trim_end()).map_err(|_| altered(path, KEK))?,
            None if used => return Err(DataDirError::KeyLost { path: path.join(KEK) }),
            None => make_kek(path, dice)?,
        };
        // Without the database, the saved data refers to records that no longer exist.
        let kept = read(&path.join(KEPT))?.filter(|_| used);
        let kept = kept.map(|text| serde_json::from_str(&text)).transpose();
        Ok(Self {
            path: path.to_owned(),
            used,
            kek,
            kept: kept.map_err(|_| altered(path, KEPT))?.unwrap_or_default(),
        })
    }

    /// Saves the data for the next run.
    ///
    /// # Errors
    /// [`DataDirError::Io`].
    pub(crate) fn keep(&self) -> Result<(), DataDirError> {
        let path = self.kept_path();
        let text = serde_json::to_vec_pretty(&self.kept).map_err(|error| io_error(&path)(error.into()))?;
        replace(&self.path, &path, &text)?;
        let (Some(merchant), Some(operator)) = (&self.kept.merchant_key, &self.kept.operator_key) else {
            return Ok(());
        };
        // A key is letters, digits and underscores.
        let lines = format!("export AUTHORITY_API_KEY={merchant}\nexport OPERATOR_KEY={operator}\n");
        replace(&self.path, &self.env_path(), lines.as_bytes())
    }

    /// The path as it was given.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The authority's database, as `AUTHORITY_DATABASE_URL` would name it.
    pub(crate) fn database_url(&self) -> String {
        format!("sqlite://{}", self.path.join(DATABASE).display())
    }

    /// The receiver's database.
    pub(crate) fn inbox_path(&self) -> PathBuf {
        self.path.join(INBOX)
    }

    /// The path of `dev.json`.
    pub(crate) fn kept_path(&self) -> PathBuf {
        self.path.join(KEPT)
    }

    /// The path of `env`.
    pub(crate) fn env_path(&self) -> PathBuf {
        self.path.join(ENV)
    }
}

fn create(path: &Path) -> Result<(), DataDirError> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(io_error(path))?;
    let ignore = path.join(".gitignore");
    fs::write(&ignore, "*\n").map_err(io_error(&ignore))
}

/// Creates the key. If two processes start in one new directory, both use the key that was created first.
fn make_kek(folder: &Path, dice: &dyn Dice) -> Result<Kek, DataDirError> {
    let path = folder.join(KEK);
    let kek = Kek::generate(dice);
    match written_beside(folder, kek.to_base64().as_bytes())?.persist_noclobber(&path) {
        Ok(_) => Ok(kek),
        Err(refused) if refused.error.kind() == io::ErrorKind::AlreadyExists => {
            let text = read(&path)?.unwrap_or_default();
            Kek::parse(text.trim_end()).map_err(|_| altered(folder, KEK))
        }
        Err(refused) => Err(io_error(&path)(refused.error)),
    }
}

fn replace(folder: &Path, path: &Path, content: &[u8]) -> Result<(), DataDirError> {
    let file = written_beside(folder, content)?;
    file.persist(path).map_err(|error| io_error(path)(error.error))?;
    Ok(())
}

/// A new file with mode 0600 (which is what `tempfile` makes), its content on disk.
fn written_beside(folder: &Path, content: &[u8]) -> Result<NamedTempFile, DataDirError> {
    let mut file = NamedTempFile::new_in(folder).map_err(io_error(folder))?;
    file.write_all(content).and_then(|()| file.as_file().sync_all()).map_err(io_error(folder))?;
    Ok(file)
}

/// The file's text, `None` when there is no such file.
fn read(path: &Path) -> Result<Option<String>, DataDirError> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) if error.kind() == io::ErrorKind::InvalidData => {
            Err(DataDirError::Altered { path: path.to_owned() })
        }
        Err(error) => Err(io_error(path)(error)),
    }
}

fn altered(folder: &Path, name: &str) -> DataDirError {
    DataDirError::Altered { path: folder.join(name) }
}

fn io_error(path: &Path) -> impl Fn(io::Error) -> DataDirError {
    move |source| DataDirError::Io { path: path.to_owned(), source }
}
