//! Indexes that are built beside the writes of others.

use authority_store::Store;
use sqlx::{AssertSqlSafe, Connection, Executor as _, PgConnection};

use super::PostgresDatabase;
use crate::cases::Database;

const VALID: &str = "SELECT COUNT(*) FROM pg_index WHERE indisvalid AND indexrelid = to_regclass($1)";
const INDEX: &str = "payments_by_processor_reference";

/// The build was cut off: what it left is built anew, and meanwhile a transaction that is open keeps nobody's writes
/// waiting, although the build waits for it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_index_that_was_left_half_built_is_built_anew_beside_the_writes() {
    let database = PostgresDatabase::start().await;
    Store::migrate(&database.url()).await.unwrap();
    let mut open = database.connect().await;
    let valid = async |conn: &mut PgConnection| -> i64 {
        sqlx::query_scalar(VALID).bind(INDEX).fetch_one(conn).await.unwrap()
    };
    assert_eq!(valid(&mut open).await, 1);
    let cut_off = format!("UPDATE pg_index SET indisvalid = FALSE WHERE indexrelid = '{INDEX}'::regclass");
    open.execute(AssertSqlSafe(cut_off)).await.unwrap();
    open.execute("BEGIN; LOCK TABLE payments IN ROW EXCLUSIVE MODE").await.unwrap();

    let building = tokio::spawn({
        let url = database.url();
        async move { Store::migrate(&url).await }
    });
    let mut other = database.connect().await;
    let waits = "SELECT COUNT(*) FROM pg_stat_activity WHERE application_name = 'authority' \
        AND datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%INDEX CONCURRENTLY%'";
    loop {
        let waiting: i64 = sqlx::query_scalar(waits).fetch_one(&mut other).await.unwrap();
        if waiting == 1 {
            break;
        }
        assert!(!building.is_finished(), "it waits for the open transaction");
    }
    // A write takes this lock, and has it at once.
    other.execute("SET lock_timeout = '5s'; LOCK TABLE payments IN ROW EXCLUSIVE MODE").await.unwrap();
    open.execute("COMMIT").await.unwrap();
    building.await.unwrap().unwrap();
    assert_eq!(valid(&mut other).await, 1);
    open.close().await.unwrap();
    other.close().await.unwrap();
}
