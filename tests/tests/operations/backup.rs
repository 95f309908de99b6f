//! Backup and restore as `docs/operations.md` describes them, beside a service at work (contract 8.1, 8.4).

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use futures_util::future::join_all;
use tests::damage::execute;
use tests::{Database, Merchant, Receiver, eventually, on_both_databases};

on_both_databases!(a_backup_beside_a_working_service_is_one_moment_of_it);

/// Backs up and restores; tells the address of the restored database.
async fn back_up(url: &str, folder: &Path) -> String {
    let file = folder.join("backup");
    if url.starts_with("sqlite") {
        execute(url, &format!("PRAGMA busy_timeout = 10000; VACUUM INTO '{}'", file.display())).await;
        return format!("sqlite://{}", file.display());
    }
    let url = url.to_owned();
    postgres_cluster::back_up_and_restore(&url, &file).await
}

async fn a_backup_beside_a_working_service_is_one_moment_of_it(database: Database) {
    let (mut authority, merchant) = Merchant::on(database, "backed-up").await;
    let receiver = Receiver::accepting().await;
    merchant.endpoint(&receiver.url("/hook"), &["*"]).await;
    let folder = tempfile::tempdir().unwrap();
    let (stop, sold) = (AtomicBool::new(false), AtomicUsize::new(0));
    let sell = async || {
        while !stop.load(Ordering::SeqCst) {
            merchant.paid_order().await;
            sold.fetch_add(1, Ordering::SeqCst);
        }
    };
    let backing_up = async {
        let reached = async |orders| {
            eventually("orders", async || (sold.load(Ordering::SeqCst) >= orders).then_some(())).await;
        };
        reached(10).await;
        let restored = back_up(authority.database_url(), folder.path()).await;
        reached(sold.load(Ordering::SeqCst) + 10).await;
        stop.store(true, Ordering::SeqCst);
        restored
    };
    let (restored, _) = tokio::join!(backing_up, join_all((0..4).map(|_| sell())));
    let all = merchant.events().await;
    authority.nothing_pending().await;
    authority.terminate().await;

    authority.set("AUTHORITY_DATABASE_URL", &restored);
    authority.is_sound().await;
    authority.restart().await;
    let kept = merchant.events().await;
    assert!(kept.len() >= 60 && kept.len() < all.len(), "{} of {}", kept.len(), all.len());
    assert_eq!(kept, all[..kept.len()], "the history up to one moment");
    // What is new goes on where the backup ends.
    merchant.paid_order().await;
    assert_eq!(merchant.events_after(kept.len()).await[0].sequence, kept.len() as u64 + 1);
    authority.is_sound().await;
}
