//! The database that an authority of a test starts on: migrated, with an operator's key. It is made once for each kind
//! and test program; every test gets a copy of its own.

use std::path::Path;

use authority::app::merchant::operator_keys::operator_key_create;
use authority::clock::SystemClock;
use authority::dice::SystemDice;
use authority_domain::OperatorScope;
use authority_store::{Access, Store, StoreUrl};
use postgres_cluster::CitusDatabase;
use tokio::sync::OnceCell;

use crate::authority::Database;

/// A copy, and the operator's key that all copies know.
pub(crate) struct Prepared {
    pub(crate) url: String,
    pub(crate) operator_key: String,
    /// The database again, where it is one of a cluster's few.
    pub(crate) on_cluster: Option<CitusDatabase>,
}

impl Prepared {
    /// A database of this kind; a file lies in `folder`.
    pub(crate) async fn new(database: Database, folder: &Path) -> Self {
        match database {
            Database::Sqlite => {
                static FILE: OnceCell<(Vec<u8>, String)> = OnceCell::const_new();
                let (file, operator_key) = FILE.get_or_init(sqlite).await;
                let path = folder.join("authority.db");
                std::fs::write(&path, file).unwrap();
                Self { url: sqlite_url(&path), operator_key: operator_key.clone(), on_cluster: None }
            }
            Database::Postgres => {
                static ORIGINAL: OnceCell<(String, String)> = OnceCell::const_new();
                let (original, operator_key) = ORIGINAL.get_or_init(postgres).await;
                let url = postgres_cluster::copy(original).await;
                Self { url, operator_key: operator_key.clone(), on_cluster: None }
            }
            Database::Citus => {
                let made = CitusDatabase::take(distribute).await;
                let (url, operator_key) = (made.url().to_owned(), make_key(made.url()).await);
                Self { url, operator_key, on_cluster: Some(made) }
            }
        }
    }
}

async fn sqlite() -> (Vec<u8>, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("authority.db");
    let key = fill(&sqlite_url(&path)).await;
    // Nothing is left beside the file: it was closed in order.
    assert!(!folder.path().join("authority.db-wal").exists());
    (std::fs::read(path).unwrap(), key)
}

async fn postgres() -> (String, String) {
    let url = postgres_cluster::database().await;
    let key = fill(&url).await;
    (url, key)
}

/// Migrates the empty database and makes a key, which it returns.
async fn fill(url: &str) -> String {
    Store::migrate(&StoreUrl::parse(url).unwrap()).await.unwrap();
    make_key(url).await
}

async fn distribute(url: &str) {
    Store::distribute(&StoreUrl::parse(url).unwrap()).await.unwrap();
}

async fn make_key(url: &str) -> String {
    let store = Store::open(&StoreUrl::parse(url).unwrap(), Access::Exclusive).await.unwrap();
    let scopes = OperatorScope::ALL.to_vec();
    let issued =
        operator_key_create(&store, &SystemClock::new(), &SystemDice, "tests".to_owned(), scopes).await;
    store.close().await;
    issued.unwrap().key.to_string()
}

fn sqlite_url(path: &Path) -> String {
    format!("sqlite://{}", path.display())
}
