//! The address of the database.

use std::fmt;

use url::Url;

use super::variables::{ConfigError, Lookup, malformed, text};

const DATABASE_URL: &str = "AUTHORITY_DATABASE_URL";

/// The address of the database, `sqlite://FILE` or `postgres://…`. It may hold a password: `Debug` and
/// `Display` do not show it.
#[derive(Clone, PartialEq, Eq)]
pub struct DatabaseUrl(String);

impl DatabaseUrl {
    /// The whole address, to open the database with.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for DatabaseUrl {
    /// Which database it is, for messages: the path of the file, or the server and the name. Never the user, the
    /// password or an option.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(path) = self.0.strip_prefix("sqlite:") {
            let path = path.strip_prefix("//").unwrap_or(path).split('?').next().unwrap_or_default();
            // A relative path is a riddle to whoever does not know the working directory.
            let path = std::path::absolute(path).unwrap_or_else(|_| path.into());
            return write!(f, "the SQLite file {} ({DATABASE_URL})", path.display());
        }
        let url = Url::parse(&self.0).map_err(|_| fmt::Error)?;
        let (host, port) = (url.host_str().unwrap_or_default(), url.port().unwrap_or(5432));
        let name = url.path().trim_start_matches('/');
        write!(f, "the PostgreSQL database {name} on {host}:{port} ({DATABASE_URL})")
    }
}

impl fmt::Debug for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("DatabaseUrl(redacted)")
    }
}

/// Reads the database's address alone, for the commands that need nothing else (`migrate`, `operator-key`).
///
/// # Errors
/// [`ConfigError`] when it is neither the address of a SQLite file nor of a PostgreSQL database; it does not show the
/// address.
pub fn read_database_url(lookup: Lookup<'_>) -> Result<DatabaseUrl, ConfigError> {
    let url = text(lookup, DATABASE_URL)?.unwrap_or_else(|| "sqlite://authority.db".to_owned());
    if names_a_file(&url) || names_a_server(&url) {
        Ok(DatabaseUrl(url))
    } else {
        let form = "sqlite:// and the path of a file, or postgres:// with a host and the name of a database";
        Err(malformed(DATABASE_URL, form))
    }
}

fn names_a_file(url: &str) -> bool {
    let path = url.strip_prefix("sqlite:").map(|rest| rest.strip_prefix("//").unwrap_or(rest));
    // With an in-memory database every connection would have its own, and a restart would lose them all.
    let in_memory = url.contains(":memory:") || url.contains("mode=memory");
    path.is_some_and(|path| !path.is_empty() && !path.starts_with('?')) && !in_memory
}

/// Whether the address names a database. libpq's default, the user name, is only a guess and is not accepted.
fn names_a_server(url: &str) -> bool {
    let Ok(url) = Url::parse(url) else { return false };
    matches!(url.scheme(), "postgres" | "postgresql")
        && url.host_str().is_some_and(|host| !host.is_empty())
        && url.path().len() > 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_name_the_database_and_never_the_password() {
        let here = std::env::current_dir().unwrap();
        let relative = format!("the SQLite file {} (AUTHORITY_DATABASE_URL)", here.join("a.db").display());
        for (url, name) in [
            ("sqlite:///var/lib/a.db?mode=rwc", "the SQLite file /var/lib/a.db (AUTHORITY_DATABASE_URL)"),
            ("sqlite:a.db", relative.as_str()),
            (
                "postgres://user:topsecret@db.example:6432/shop?password=topsecret",
                "the PostgreSQL database shop on db.example:6432 (AUTHORITY_DATABASE_URL)",
            ),
            (
                "postgresql://topsecret@[::1]/shop",
                "the PostgreSQL database shop on [::1]:5432 (AUTHORITY_DATABASE_URL)",
            ),
        ] {
            let read = read_database_url(&|name| (name == DATABASE_URL).then(|| url.into())).unwrap();
            assert_eq!(read.to_string(), name);
        }
    }
}
