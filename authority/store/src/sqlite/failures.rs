//! A database that refuses writes: one that may not grow, and one that another process has locked.
//!
//! `max_page_count` makes SQLite report "full" on any machine, as a full disk does
//! (`tests/conformance/sqlite/full_disk.rs` fills a disk where it may mount one).

use std::path::Path;
use std::time::Duration;

use authority_domain::merchant::limits::Limits;
use authority_domain::merchant::{MerchantStatus, Settings};
use authority_domain::{Merchant, MerchantId, Timestamp};
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, join_all};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, SqliteConnection};
use tokio::sync::oneshot;

use super::connection::SqliteWriting;
use crate::error::{Result, StoreError};
use crate::hand_off::CommitListeners;
use crate::job::{Job, Work, typed};
use crate::store_url::Access;
use crate::supervisor::Supervisor;
use crate::writer::Writer;
use crate::writing_connection::WritingConnection;

/// Pages that may still be added: enough for a dozen merchants of [`merchant`].
const ROOM: i64 = 40;

/// A merchant that takes three pages.
fn merchant(n: usize) -> Merchant {
    Merchant {
        id: MerchantId::from_store(format!("mer_{n}")),
        slug: format!("m{n}"),
        name: "x".repeat(10_000),
        status: MerchantStatus::Active,
        default_currency: "USD".to_owned(),
        api_version: "2026-09-01".to_owned(),
        settings: Settings::default(),
        limits: Limits::default(),
        resource_version: 1,
        created_at: Timestamp::from_ms(0),
        updated_at: Timestamp::from_ms(0),
    }
}

/// Creates the tables. The connection is closed, not dropped: one that ends in the background may still hold a lock.
async fn migrate(path: &Path) {
    Box::new(super::open(path, Access::Shared).await.unwrap().writing).close().await;
}

async fn beside(path: &Path) -> SqliteConnection {
    SqliteConnectOptions::new().filename(path).connect().await.unwrap()
}

async fn merchants(path: &Path) -> i64 {
    sqlx::query_scalar("SELECT COUNT(*) FROM merchants").fetch_one(&mut beside(path).await).await.unwrap()
}

/// A writer on a database that is `ROOM` pages from its limit and holds a table that can be dropped.
async fn cramped(path: &Path) -> Writer {
    migrate(path).await;
    let mut conn = beside(path).await;
    sqlx::query("CREATE TABLE ballast AS SELECT zeroblob(1000000) AS bytes")
        .execute(&mut conn)
        .await
        .unwrap();
    let pages: i64 = sqlx::query_scalar("PRAGMA page_count").fetch_one(&mut conn).await.unwrap();
    let options =
        SqliteConnectOptions::new().filename(path).pragma("max_page_count", (pages + ROOM).to_string());
    writer(options).await
}

async fn writer(options: SqliteConnectOptions) -> Writer {
    let conn = options.connect().await.unwrap();
    let writing = Box::new(SqliteWriting::new(options, conn));
    Writer::start(vec![writing], &CommitListeners::default(), &Supervisor::default())
}

/// Submits a job; returns what becomes its answer.
async fn submit(writer: &Writer, work: impl Work<(), StoreError>) -> BoxFuture<'static, Result<()>> {
    let (job, answer) = Job::once(work, None);
    writer.queue.submit(job).await.unwrap();
    Box::pin(async move { typed(answer.await.unwrap()) })
}

async fn insert(writer: &Writer, merchant: Merchant) -> Result<()> {
    submit(writer, move |tx| Box::pin(async move { tx.merchant_insert(&merchant).await })).await.await
}

#[tokio::test]
async fn a_full_database_undoes_the_whole_transaction_and_works_on() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("cramped.db");
    let writer = cramped(&path).await;

    // Jobs that share a transaction share its end.
    let (open, gate) = oneshot::channel::<()>();
    let held = submit(&writer, move |_| {
        Box::pin(async move {
            let _ = gate.await;
            Ok(())
        })
    });
    let held = held.await;
    let mut together = Box::pin(join_all((0..40).map(|n| insert(&writer, merchant(n)))));
    assert!((&mut together).now_or_never().is_none(), "they wait");
    open.send(()).unwrap();
    assert!(matches!(held.await, Err(StoreError::Unavailable(_))));
    let answers = together.await;
    let refused = answers.iter().filter(|answer| matches!(answer, Err(StoreError::Unavailable(_)))).count();
    let kept = i64::try_from(answers.iter().filter(|answer| answer.is_ok()).count()).unwrap();
    assert_eq!(refused + usize::try_from(kept).unwrap(), 40, "{answers:?}");
    assert!(refused > 1, "whoever came before the end was undone as well");
    assert_eq!(merchants(&path).await, kept, "what was refused left nothing");

    // One by one until it is full, and then again and again.
    let mut count = kept;
    let mut n = 100;
    while insert(&writer, merchant(n)).await.is_ok() {
        count += 1;
        n += 1;
        assert!(n < 1_000, "the database does not fill up");
    }
    for n in 1_000..1_010 {
        assert!(matches!(insert(&writer, merchant(n)).await, Err(StoreError::Unavailable(_))));
    }
    assert_eq!(merchants(&path).await, count);

    sqlx::query("DROP TABLE ballast").execute(&mut beside(&path).await).await.unwrap();
    for n in 2_000..2_010 {
        insert(&writer, merchant(n)).await.unwrap();
    }
    assert_eq!(merchants(&path).await, count + 10);
    let sound: String =
        sqlx::query_scalar("PRAGMA integrity_check").fetch_one(&mut beside(&path).await).await.unwrap();
    assert_eq!(sound, "ok");
    writer.close().await;
}

#[tokio::test]
async fn a_locked_database_refuses_everyone_until_it_is_free() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("locked.db");
    migrate(&path).await;
    let options = SqliteConnectOptions::new().filename(&path).busy_timeout(Duration::ZERO);
    let writer = writer(options).await;
    insert(&writer, merchant(0)).await.unwrap();

    let mut other = beside(&path).await;
    sqlx::query("BEGIN IMMEDIATE").execute(&mut other).await.unwrap();
    for answer in join_all((1..20).map(|n| insert(&writer, merchant(n)))).await {
        assert!(matches!(answer, Err(StoreError::Unavailable(_))));
    }
    sqlx::query("ROLLBACK").execute(&mut other).await.unwrap();
    for answer in join_all((20..40).map(|n| insert(&writer, merchant(n)))).await {
        answer.unwrap();
    }
    assert_eq!(merchants(&path).await, 21);
    writer.close().await;
}
