//! The databases that are measured, on disk and durable.

use postgres_cluster::{Cluster, Durability};
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous};
use tempfile::TempDir;

/// Which database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Sqlite,
    Postgres,
}

impl Kind {
    pub(crate) const ALL: [Self; 2] = [Self::Sqlite, Self::Postgres];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Sqlite => "sqlite",
            Self::Postgres => "postgres",
        }
    }
}

/// A place for databases of one kind; gone with the value.
pub(crate) struct Database {
    pub(crate) kind: Kind,
    folder: TempDir,
    cluster: Option<Cluster>,
}

impl Database {
    pub(crate) async fn make(kind: Kind) -> Self {
        let cluster = (kind == Kind::Postgres).then(|| Cluster::start(Durability::On));
        Self { kind, folder: tempfile::Builder::new().prefix("bench-").tempdir().unwrap(), cluster }
    }

    /// The address of a new, empty database.
    pub(crate) async fn url(&self, name: &str) -> String {
        match &self.cluster {
            Some(cluster) => cluster.database().await,
            None => format!("sqlite://{}", self.folder.path().join(name).display()),
        }
    }

    /// The database server's process.
    pub(crate) fn server(&self) -> Option<u32> {
        self.cluster.as_ref().map(Cluster::pid)
    }
}

/// How the authority opens its SQLite file, its path read from an address: the floor does the same.
pub(crate) fn sqlite_options(path: &str) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(path)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        .foreign_keys(true)
        .pragma("wal_autocheckpoint", "8000")
}
