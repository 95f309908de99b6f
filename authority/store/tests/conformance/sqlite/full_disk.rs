//! A disk that fills up under the database, on a small filesystem of its own. Mounting one takes root: elsewhere the
//! test says so and ends; the same on a full database file runs everywhere (`src/sqlite/failures.rs`).

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use authority_domain::ErrorCode;
use authority_store::{Access, Store, StoreUrl};

use super::SqliteFile;
use crate::cases::Database;
use crate::cases::shop::Shop;

/// A mounted tmpfs; unmounted when it goes away.
struct SmallDisk(PathBuf);

impl SmallDisk {
    fn mount(at: &Path) -> Option<Self> {
        let done = Command::new("mount").args(["-t", "tmpfs", "-o", "size=8m", "tmpfs"]).arg(at).output();
        done.is_ok_and(|done| done.status.success()).then(|| Self(at.to_owned()))
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").args(["--lazy"]).arg(&self.0).status();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_disk_refuses_whole_changes_and_harms_nothing() {
    let database = SqliteFile::start().await;
    let Some(disk) = SmallDisk::mount(database.directory.path()) else {
        println!("skipped: mounting a small filesystem needs root");
        return;
    };
    let store = Store::open(&StoreUrl::Sqlite(database.path()), Access::Exclusive).await.unwrap();
    let shop = Shop::new(&store, "acme").await;
    shop.endpoint(&["*"]).await;
    // All but a little of the disk is somebody else's.
    let ballast = disk.0.join("ballast");
    fs::write(&ballast, vec![0; 6 << 20]).unwrap();
    let mut committed = 0;
    let refusal = loop {
        match shop.commit(vec![shop.opened().1]).await {
            Ok(_) => committed += 1,
            Err(refusal) => break refusal,
        }
        assert!(committed < 10_000, "the disk does not fill up");
    };
    assert_eq!(refusal.code, ErrorCode::ServiceUnavailable);
    assert!(committed > 0, "there was room for something");
    for _ in 0..3 {
        assert_eq!(shop.commit(vec![shop.opened().1]).await.unwrap_err().code, ErrorCode::ServiceUnavailable);
    }
    assert_eq!(shop.events().await.len(), committed.min(1000), "reading goes on");

    fs::remove_file(&ballast).unwrap();
    shop.open_checkout().await;
    committed += 1;
    let committed = i64::try_from(committed).unwrap();
    for table in ["checkouts", "events", "deliveries"] {
        assert_eq!(database.count(table).await, committed, "{table}");
    }
    assert_eq!(database.number("SELECT MAX(sequence) FROM events").await, committed);
    store.close().await;
}
