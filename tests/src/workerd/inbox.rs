//! Reads the databases that the inboxes of an edge receiver left behind.
//!
//! workerd keeps each Durable Object's database as an ordinary SQLite file, so what is really stored can be
//! looked at without asking the Worker.

use std::fs;
use std::path::{Path, PathBuf};

use sqlx::sqlite::{SqliteConnectOptions, SqlitePool, SqlitePoolOptions};

crate::row! {
    /// A stored event, with the columns of contract 11.2.
    #[derive(Clone, PartialEq, Eq, Debug)]
    pub struct Record {
        /// The event id.
        pub id: String,
        /// The event's type.
        pub event_type: String,
        /// When the event was created, as its body says.
        pub created_at: String,
        /// The merchant that the event belongs to.
        pub merchant_id: String,
        /// Live or test traffic, when the event says.
        pub livemode: Option<bool>,
        /// When the inbox took it in, Unix milliseconds.
        pub received_at: i64,
        /// `received` until it has been handed over.
        pub status: String,
        /// Attempts to hand it over.
        pub attempts: i64,
        /// Why the last attempt failed.
        pub last_error: Option<String>,
        /// The exact bytes that were signed.
        pub body: Vec<u8>,
    }
}

/// Every record of every database in `folder`, ordered by id.
pub(super) async fn read(folder: &Path) -> Vec<Record> {
    let mut records: Vec<Record> = Vec::new();
    for path in databases(folder) {
        let database = open(&path).await;
        records.extend(
            sqlx::query_as::<_, Record>("SELECT *, type AS event_type FROM events")
                .fetch_all(&database)
                .await
                .unwrap(),
        );
        database.close().await;
    }
    records.sort_by(|a, b| a.id.cmp(&b.id));
    records
}

/// The position in the one database in `folder`.
pub(super) async fn position(folder: &Path) -> Option<String> {
    let paths = databases(folder);
    assert_eq!(paths.len(), 1, "{paths:?}");
    let database = open(&paths[0]).await;
    let position =
        sqlx::query_scalar("SELECT position FROM reconciliation").fetch_one(&database).await.unwrap();
    database.close().await;
    position
}

/// Whether these bytes are in any file of `folder` or of the folders in it.
pub(super) fn contains(folder: &Path, bytes: &[u8]) -> bool {
    fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).any(|path| {
        if path.is_dir() {
            return contains(&path, bytes);
        }
        fs::read(&path).unwrap().windows(bytes.len()).any(|window| window == bytes)
    })
}

fn databases(folder: &Path) -> Vec<PathBuf> {
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let is_object = |path: &PathBuf| {
        path.extension().is_some_and(|extension| extension == "sqlite")
            && path.file_stem().is_some_and(|stem| stem != "metadata")
    };
    paths.filter(is_object).collect()
}

async fn open(path: &Path) -> SqlitePool {
    let options = SqliteConnectOptions::new().filename(path);
    SqlitePoolOptions::new().max_connections(1).connect_with(options).await.unwrap()
}
