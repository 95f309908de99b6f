//! Where a database is: a file on this machine, or a server; and who else may have it open.

use std::fmt;
use std::path::PathBuf;

use sqlx::postgres::PgConnectOptions;

/// Where the database is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreUrl {
    /// A file on this machine.
    Sqlite(PathBuf),
    /// A PostgreSQL server.
    Postgres(ServerUrl),
}

/// The address of a database on a server. It may hold a password, so `Debug` does not show it.
#[derive(Clone, PartialEq, Eq)]
pub struct ServerUrl(String);

impl ServerUrl {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for ServerUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ServerUrl").finish_non_exhaustive()
    }
}

impl StoreUrl {
    /// Reads `sqlite://path`, relative or absolute, or `postgres://…` as libpq writes it (`postgresql://` is the same).
    /// `None` for any other form.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        if let Some(path) = text.strip_prefix("sqlite://") {
            return (!path.is_empty() && !path.contains('?')).then(|| Self::Sqlite(PathBuf::from(path)));
        }
        let server = text.starts_with("postgres://") || text.starts_with("postgresql://");
        let readable = server && text.parse::<PgConnectOptions>().is_ok();
        readable.then(|| Self::Postgres(ServerUrl(text.to_owned())))
    }
}

/// Who else may have the database open. On PostgreSQL any number of instances may, and this makes no difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// This process serves it: a second one is refused ([`Locked`](crate::StoreError::Locked)).
    Exclusive,
    /// A command beside a running service.
    Shared,
}
