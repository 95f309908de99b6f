//! Where a value comes from: the environment, a file that it names, or a systemd credential.
//!
//! Every variable `AUTHORITY_X` can be given in one of three ways, and in one only:
//!
//! - `AUTHORITY_X` holds the value;
//! - `AUTHORITY_X_FILE` holds the path of a file with the value, as Docker and Kubernetes mount secrets;
//! - the file `AUTHORITY_X` in `$CREDENTIALS_DIRECTORY` holds the value, as systemd passes credentials
//!   (`LoadCredential=`, systemd.exec(5)).
//!
//! A file may end with one line break, which editors add; nothing else is trimmed. It is read again at each reload
//! ([`crate::reload`]), so a value that has to change while the service runs belongs in a file. An empty file is an
//! empty value, which no variable takes; only for [`MAY_BE_EMPTY`] it means that there is no value at present.
//!
//! Deliberately absent: the paths and the values in messages. Whoever writes a secret into `AUTHORITY_X_FILE` by
//! mistake must not find it in a log.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::variables::{ConfigError, Lookup};

/// The suffix of a variable that names a file.
pub(super) const FILE: &str = "_FILE";

/// The folder of systemd's credentials.
const CREDENTIALS_DIRECTORY: &str = "CREDENTIALS_DIRECTORY";

/// The previous key exists only while keys are being changed. Its file is there before and after, because the
/// environment that names it cannot change while the service runs.
const MAY_BE_EMPTY: &str = "AUTHORITY_SECRET_KEK_PREVIOUS";

/// More than any value needs. A path to a device or to a large file by mistake must not fill the memory.
const MAX_FILE_BYTES: u64 = 64 * 1024;

/// Where a value came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// The variable itself.
    Environment,
    /// The file that the variable with the suffix `_FILE` names.
    File,
    /// A credential of systemd.
    Credential,
    /// Nothing is set.
    Default,
}

impl Source {
    /// The name in tables.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Environment => "environment",
            Self::File => "file",
            Self::Credential => "credential",
            Self::Default => "default",
        }
    }
}

/// The value of a variable and where it came from; `None` when nothing is set. An empty value counts as set.
///
/// # Errors
/// [`ConfigError::GivenTwice`], [`ConfigError::Unreadable`], and [`ConfigError::Malformed`] for a value that is not
/// text.
pub fn given(lookup: Lookup<'_>, variable: &'static str) -> Result<Option<(String, Source)>, ConfigError> {
    let file = lookup(&format!("{variable}{FILE}")).map(PathBuf::from);
    let credential = lookup(CREDENTIALS_DIRECTORY)
        .map(|folder| Path::new(&folder).join(variable))
        .filter(|path| path.try_exists().unwrap_or(true));
    let value = match (lookup(variable), file, credential) {
        (None, None, None) => return Ok(None),
        (Some(value), None, None) => {
            let text = value.into_string();
            (text.map_err(|_| not_text(variable))?, Source::Environment)
        }
        (None, Some(path), None) => (content(variable, &path, Source::File)?, Source::File),
        (None, None, Some(path)) => (content(variable, &path, Source::Credential)?, Source::Credential),
        (Some(_), Some(_), _) => return Err(twice(variable, Source::Environment, Source::File)),
        (Some(_), None, Some(_)) => return Err(twice(variable, Source::Environment, Source::Credential)),
        (None, Some(_), Some(_)) => return Err(twice(variable, Source::File, Source::Credential)),
    };
    let is_absent = variable == MAY_BE_EMPTY && value.1 == Source::File && value.0.is_empty();
    Ok((!is_absent).then_some(value))
}

/// The content of the file without the line break at its end.
fn content(variable: &'static str, path: &Path, source: Source) -> Result<String, ConfigError> {
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes))
        .map_err(|error| unreadable(variable, source, &error))?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(unreadable(variable, source, &io::ErrorKind::FileTooLarge.into()));
    }
    let mut text = String::from_utf8(bytes).map_err(|_| not_text(variable))?;
    if text.ends_with('\n') {
        text.pop();
        if text.ends_with('\r') {
            text.pop();
        }
    }
    Ok(text)
}

fn twice(variable: &'static str, first: Source, second: Source) -> ConfigError {
    ConfigError::GivenTwice {
        variable,
        first: described(variable, first),
        second: described(variable, second),
    }
}

fn unreadable(variable: &'static str, source: Source, error: &io::Error) -> ConfigError {
    ConfigError::Unreadable { variable, way: described(variable, source), reason: error.to_string() }
}

fn not_text(variable: &'static str) -> ConfigError {
    ConfigError::Malformed { variable, expected: "UTF-8 text".to_owned() }
}

fn described(variable: &str, source: Source) -> String {
    match source {
        Source::Environment | Source::Default => "the environment".to_owned(),
        Source::File => format!("{variable}{FILE}"),
        Source::Credential => "a credential of systemd".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;
    use std::fs;

    use super::*;

    const NAME: &str = "AUTHORITY_LOG";

    /// What is read when the environment, the named file and the credential have these contents.
    fn read(
        environment: Option<&str>,
        file: Option<&[u8]>,
        credential: Option<&[u8]>,
    ) -> Result<Option<(String, Source)>, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let credentials = folder.path().join("credentials");
        fs::create_dir(&credentials).unwrap();
        if let Some(content) = file {
            fs::write(&path, content).unwrap();
        }
        if let Some(content) = credential {
            fs::write(credentials.join(NAME), content).unwrap();
        }
        let lookup = |name: &str| match name {
            NAME => environment.map(OsString::from),
            "AUTHORITY_LOG_FILE" => file.map(|_| path.clone().into()),
            CREDENTIALS_DIRECTORY => Some(credentials.clone().into()),
            _ => None,
        };
        given(&lookup, NAME).map_err(|error| error.to_string())
    }

    fn some(text: &str, source: Source) -> Result<Option<(String, Source)>, String> {
        Ok(Some((text.to_owned(), source)))
    }

    #[test]
    fn a_value_has_one_of_three_sources() {
        assert_eq!(read(None, None, None), Ok(None));
        assert_eq!(read(Some("a"), None, None), some("a", Source::Environment));
        assert_eq!(read(None, Some(b"b"), None), some("b", Source::File));
        assert_eq!(read(None, None, Some(b"c")), some("c", Source::Credential));
    }

    #[test]
    fn one_line_break_at_the_end_is_not_part_of_the_value() {
        for (content, value) in [
            ("debug\n", "debug"),
            ("debug\r\n", "debug"),
            ("debug\n\n", "debug\n"),
            (" debug ", " debug "),
            ("\n", ""),
            ("", ""),
        ] {
            assert_eq!(read(None, Some(content.as_bytes()), None), some(value, Source::File), "{content:?}");
        }
    }

    #[test]
    fn only_the_file_of_the_previous_key_may_be_empty() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let path = || file.path().as_os_str().to_owned();
        let lookup = |name: &str| name.ends_with(FILE).then(path);
        assert_eq!(given(&lookup, "AUTHORITY_SECRET_KEK_PREVIOUS"), Ok(None));
        let empty = Ok(Some((String::new(), Source::File)));
        assert_eq!(given(&lookup, "AUTHORITY_SECRET_KEK"), empty);
        assert_eq!(given(&|name| (name == NAME).then(OsString::new), NAME).unwrap().unwrap().0, "");
    }

    #[test]
    fn a_value_given_twice_is_refused() {
        for (environment, file, credential, message) in [
            (Some("a"), Some(&b"b"[..]), None, "the environment and AUTHORITY_LOG_FILE"),
            (Some("a"), None, Some(&b"c"[..]), "the environment and a credential of systemd"),
            (None, Some(b"b"), Some(b"c"), "AUTHORITY_LOG_FILE and a credential of systemd"),
        ] {
            let message = format!("AUTHORITY_LOG is given twice: by {message}");
            assert_eq!(read(environment, file, credential), Err(message));
        }
    }

    #[test]
    fn a_file_that_cannot_be_read_is_refused_without_its_path() {
        let missing =
            given(&|name| (name == "AUTHORITY_LOG_FILE").then(|| "/nowhere/topsecret".into()), NAME);
        let message =
            "AUTHORITY_LOG cannot be read from AUTHORITY_LOG_FILE: No such file or directory (os error 2)";
        assert_eq!(missing.unwrap_err().to_string(), message);
        let largest = vec![b'a'; 64 * 1024];
        assert!(read(None, Some(&largest), None).is_ok());
        let larger = [largest.as_slice(), b"a"].concat();
        let message = "AUTHORITY_LOG cannot be read from AUTHORITY_LOG_FILE: file too large";
        assert_eq!(read(None, Some(&larger), None), Err(message.to_owned()));
        let endless = given(&|name| (name == "AUTHORITY_LOG_FILE").then(|| "/dev/zero".into()), NAME);
        assert_eq!(endless.unwrap_err().to_string(), message);
        assert_eq!(read(None, Some(b"\xff"), None), Err("AUTHORITY_LOG must be UTF-8 text".to_owned()));
    }
}
