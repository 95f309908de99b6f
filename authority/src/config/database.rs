//! The address of the database.

use std::fmt;

use authority_store::StoreUrl;
use url::Url;

use super::variables::{ConfigError, Lookup, malformed, text};

const DATABASE_URL: &str = "AUTHORITY_DATABASE_URL";

/// The address of the database, `sqlite://FILE` or `postgres://…`. It may hold a password: `Debug` and
/// `Display` do not show it.
#[derive(Clone, PartialEq, Eq)]
pub struct DatabaseUrl {
    text: String,
    store: StoreUrl,
}

impl DatabaseUrl {
    /// What the store opens.
    #[must_use]
    pub fn store_url(&self) -> &StoreUrl {
        &self.store
    }
}

impl fmt::Display for DatabaseUrl {
    /// Which database it is, for messages: the path of the file, or the server and the name. Never the user, the
    /// password or an option.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let StoreUrl::Sqlite(path) = &self.store {
            // A relative path is a riddle to whoever does not know the working directory.
            let path = std::path::absolute(path).unwrap_or_else(|_| path.clone());
            return write!(f, "the SQLite file {} ({DATABASE_URL})", path.display());
        }
        let url = Url::parse(&self.text).map_err(|_| fmt::Error)?;
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
    let text = text(lookup, DATABASE_URL)?.unwrap_or_else(|| "sqlite://authority.db".to_owned());
    let form = "sqlite:// and the path of a file, or postgres:// with a host, the name of a database, and options that \
                PostgreSQL knows";
    let store = StoreUrl::parse(&text).filter(|store| match store {
        // With an in-memory database every connection would have its own, and a restart would lose them all.
        StoreUrl::Sqlite(_) => !text.contains(":memory:"),
        StoreUrl::Postgres(_) => names_a_server(&text),
    });
    let store = store.ok_or_else(|| malformed(DATABASE_URL, form))?;
    Ok(DatabaseUrl { text, store })
}

/// Whether the address names a database. libpq's default, the user name, is only a guess and is not accepted.
fn names_a_server(url: &str) -> bool {
    let Ok(url) = Url::parse(url) else { return false };
    // A password with a `/` that is not escaped ends the host, and its rest would be taken for the database's name.
    url.host_str().is_some_and(|host| !host.is_empty()) && url.path().len() > 1 && !url.path().contains('@')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_name_the_database_and_never_the_password() {
        let here = std::env::current_dir().unwrap();
        let relative = format!("the SQLite file {} (AUTHORITY_DATABASE_URL)", here.join("a.db").display());
        for (url, name) in [
            ("sqlite:///var/lib/a.db", "the SQLite file /var/lib/a.db (AUTHORITY_DATABASE_URL)"),
            ("sqlite://a.db", relative.as_str()),
            (
                "postgres://user:topsecret@db.example:6432/shop?password=topsecret&sslmode=require",
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
