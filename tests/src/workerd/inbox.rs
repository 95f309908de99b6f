//! Reads the databases that the inboxes of an edge receiver left behind.
//!
//! workerd keeps each Durable Object's database as an ordinary SQLite file, so what is really stored can be
//! looked at without asking the Worker.

use std::fs;
use std::path::Path;

use sqlx::sqlite::{SqliteConnectOptions, SqlitePoolOptions};

/// A stored event, with the columns of contract 11.2.
#[derive(Clone, PartialEq, Eq, Debug, sqlx::FromRow)]
pub struct Record {
    /// The event id.
    pub id: String,
    /// The event's type.
    #[sqlx(rename = "type")]
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

/// Every record of every database in `folder`, ordered by id.
pub(super) async fn read(folder: &Path) -> Vec<Record> {
    let mut records = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let is_object = path.extension().is_some_and(|extension| extension == "sqlite")
            && path.file_stem().is_some_and(|stem| stem != "metadata");
        if !is_object {
            continue;
        }
        let options = SqliteConnectOptions::new().filename(&path);
        let database = SqlitePoolOptions::new().max_connections(1).connect_with(options).await.unwrap();
        let rows: Vec<Record> = sqlx::query_as("SELECT * FROM events").fetch_all(&database).await.unwrap();
        records.extend(rows);
        database.close().await;
    }
    records.sort_by(|a, b| a.id.cmp(&b.id));
    records
}
