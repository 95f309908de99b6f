//! The databases that are measured, on disk and durable.

use postgres_cluster::{Cluster, Durability};
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous};
use tempfile::TempDir;
use tests::authority::Authority;

/// Which database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A file, through the library that is linked in.
    Sqlite,
    /// A server of its own, on a socket of its own.
    Postgres,
}

impl Kind {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Sqlite, Self::Postgres];

    /// Those that are among the words of a command line; both when none is.
    #[must_use]
    pub fn named(words: &[String]) -> Vec<Self> {
        let is_named = |kind: &Self| words.iter().any(|word| word == kind.name());
        let named: Vec<Self> = Self::ALL.into_iter().filter(is_named).collect();
        if named.is_empty() { Self::ALL.to_vec() } else { named }
    }

    /// As it is written in tables and on command lines.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Sqlite => "sqlite",
            Self::Postgres => "postgres",
        }
    }
}

/// A place for databases of one kind; gone with the value.
#[derive(Debug)]
pub struct Database {
    /// Of this kind.
    pub kind: Kind,
    folder: TempDir,
    cluster: Option<Cluster>,
}

impl Database {
    /// Makes the place: a folder, or a server that flushes.
    #[must_use]
    pub fn make(kind: Kind) -> Self {
        let cluster = (kind == Kind::Postgres).then(|| Cluster::start(Durability::On));
        Self { kind, folder: tempfile::Builder::new().prefix("bench-").tempdir().unwrap(), cluster }
    }

    /// The address of a new, empty database.
    pub async fn url(&self, name: &str) -> String {
        match &self.cluster {
            Some(cluster) => cluster.database().await,
            None => format!("sqlite://{}", self.folder.path().join(name).display()),
        }
    }

    /// An authority on a new, empty database, with these variables besides.
    pub async fn authority(&self, name: &str, variables: &[(&str, &str)]) -> Authority {
        let url = self.url(name).await;
        Authority::start(&[&[("AUTHORITY_DATABASE_URL", url.as_str())], variables].concat()).await
    }

    /// The database server's process.
    #[must_use]
    pub fn server(&self) -> Option<u32> {
        self.cluster.as_ref().map(Cluster::pid)
    }
}

/// How the authority opens its SQLite file, its path read from an address: the floor does the same.
#[must_use]
pub fn sqlite_options(path: &str) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(path)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        .foreign_keys(true)
        .pragma("wal_autocheckpoint", "8000")
}
