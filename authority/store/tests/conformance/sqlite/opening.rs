//! Who may open a file.

use std::os::unix::fs::PermissionsExt as _;

use authority_store::{Access, Store, StoreError, StoreUrl};

use super::SqliteFile;
use crate::cases::Database;
use crate::cases::shop::Shop;

#[tokio::test]
async fn a_second_server_is_refused_until_the_first_is_gone() {
    let database = SqliteFile::start().await;
    let first = database.open().await.unwrap();
    assert!(matches!(database.open().await, Err(StoreError::Locked)));
    // A clone keeps the file, and closing is not leaving.
    let clone = first.clone();
    drop(first);
    clone.close().await;
    assert!(matches!(database.open().await, Err(StoreError::Locked)));
    drop(clone);
    database.open().await.unwrap();
}

#[tokio::test]
async fn a_file_is_not_distributed() {
    let database = SqliteFile::start().await;
    let refused = Store::distribute(&database.url()).await.unwrap_err();
    assert!(matches!(refused, StoreError::NotDistributable(_)), "{refused:?}");
    assert!(refused.to_string().contains("SQLite") && !refused.to_string().contains('\n'), "{refused}");
    assert!(!database.path().exists());
}

#[tokio::test]
async fn the_files_are_their_owners_alone() {
    let database = SqliteFile::start().await;
    let shop = Shop::open(&database).await;
    shop.open_checkout().await;
    let mut modes: Vec<(String, u32)> = std::fs::read_dir(database.directory.path())
        .unwrap()
        .map(|file| {
            let file = file.unwrap();
            let name = file.file_name().into_string().unwrap();
            let ending = name.rsplit_once(".db").map_or(name.as_str(), |(_, ending)| ending).to_owned();
            (ending, file.metadata().unwrap().permissions().mode() & 0o777)
        })
        .collect();
    modes.sort();
    assert_eq!(modes, ["", "-shm", "-wal", ".lock"].map(|ending| (ending.to_owned(), 0o600)));
}

#[tokio::test]
async fn a_command_may_work_beside_the_server() {
    let database = SqliteFile::start().await;
    let shop = Shop::open(&database).await;
    let beside = Store::open(&StoreUrl::Sqlite(database.path()), Access::Shared).await.unwrap();
    let other = Shop::new(&beside, "other").await;
    other.open_checkout().await;
    shop.open_checkout().await;
    assert_eq!(database.count("events").await, 2);
}

#[tokio::test]
async fn a_place_that_cannot_be_is_unavailable() {
    let database = SqliteFile::start().await;
    let nowhere = StoreUrl::Sqlite(database.path().join("no").join("directory"));
    for access in [Access::Exclusive, Access::Shared] {
        assert!(matches!(Store::open(&nowhere, access).await, Err(StoreError::Unavailable(_))));
    }
}

#[test]
fn a_url_is_a_scheme_and_a_path() {
    let path = |text: &str| match StoreUrl::parse(text) {
        Some(StoreUrl::Sqlite(path)) => Some(path.display().to_string()),
        _ => None,
    };
    assert_eq!(path("sqlite://data/authority.db").as_deref(), Some("data/authority.db"));
    assert_eq!(path("sqlite:///var/lib/authority.db").as_deref(), Some("/var/lib/authority.db"));
    for bad in ["", "sqlite:", "sqlite://", "sqlite://a?mode=memory", "postgres://a", "/var/lib/authority.db"]
    {
        assert_eq!(path(bad), None, "{bad}");
    }
}
