//! Jobs with more to undo than fits into the buffer that SQLite has for it.

use authority_domain::{ErrorCode, Merchant, Refusal};
use authority_store::Store;

use super::SqliteFile;
use crate::cases::fixtures::merchant;
use crate::cases::{Database, ask};

/// More than the 16 MiB of the buffer.
const MANY: usize = 20 * 1024 * 1024;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_with_much_to_undo_is_undone_when_it_is_repeated() {
    let database = SqliteFile::migrated().await;
    let store = database.open().await.unwrap();
    let mut large = merchant("large");
    large.name = "a".repeat(MANY);
    ask!(store.write, [large], |tx| tx.merchant_insert(&large)).unwrap();
    let changed = Merchant { name: "b".repeat(MANY), resource_version: 2, ..large.clone() };
    // It does not fit; nothing is stored.
    assert_eq!(refused(&store, &changed).await, ErrorCode::ServiceUnavailable);
    assert_eq!(refused(&store, &changed).await, ErrorCode::NotFound);
    assert!(read(&store, &large).await == Some(large), "the change was not undone whole");
    let kept = ask!(store.write, [changed], |tx| tx.merchant_update(&changed));
    kept.unwrap();
    assert!(read(&store, &changed).await == Some(changed), "the change was not kept");
}

/// How a job ends that changes the merchant, sees the change, and refuses.
async fn refused(store: &Store, changed: &Merchant) -> ErrorCode {
    let refused: Result<(), Refusal> = ask!(store.write, [changed], |tx| async {
        tx.merchant_update(&changed).await?;
        let seen = tx.merchant_get(&changed.id).await?;
        assert!(seen.as_ref() == Some(&changed), "the job does not see its change");
        Err(Refusal::not_found("reason"))
    });
    refused.unwrap_err().code
}

async fn read(store: &Store, merchant: &Merchant) -> Option<Merchant> {
    ask!(store.read, [merchant], |tx| tx.merchant_get(&merchant.id)).unwrap()
}
