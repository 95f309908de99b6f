//! Outcomes for a merchant for whom every instance writes all the time (contract 21-2): its turn is never free. Here
//! somebody else has it, and a request waits for it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{AssertSqlSafe, ConnectOptions as _, Executor as _};
use tests::{Authority, Merchant, Receiver, eventually};

/// Notes by which transactions checkouts are made and deliveries have succeeded.
const NOTES: &str = "\
    CREATE TABLE notes (what TEXT, merchant TEXT, made_by BIGINT DEFAULT txid_current()); \
    CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
        INSERT INTO notes (what, merchant) VALUES (TG_TABLE_NAME, NEW.merchant_id); RETURN NULL; END $$; \
    CREATE TRIGGER note AFTER INSERT ON checkouts FOR EACH ROW EXECUTE FUNCTION note(); \
    CREATE TRIGGER note AFTER UPDATE ON deliveries FOR EACH ROW WHEN (NEW.status = 'succeeded') \
        EXECUTE FUNCTION note()";

/// Transactions that wait for turns.
const WAITING: &str = "SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database() \
    AND wait_event_type = 'Lock' AND query LIKE '%FROM turns%' AND pid <> pg_backend_pid()";

async fn number(conn: &mut PgConnection, sql: &str) -> i64 {
    sqlx::query_scalar(AssertSqlSafe(sql)).fetch_one(conn).await.unwrap()
}

/// The outcomes of others, whose turns are free, do not wait; that of this merchant goes along with the request.
#[tokio::test]
async fn an_outcome_goes_along_with_whoever_waits_for_the_turn_of_its_merchant() {
    let database = postgres_cluster::database().await;
    let authority = Authority::start(&[("AUTHORITY_DATABASE_URL", database.as_str())]).await;
    let connect = async || database.parse::<PgConnectOptions>().unwrap().connect().await.unwrap();
    let (mut looking, mut holding) = (connect().await, connect().await);
    looking.execute(NOTES).await.unwrap();
    let busy = Merchant::create(&authority, "busy").await;
    let mut other = Merchant::create(&authority, "other").await;
    let shard = async |conn: &mut PgConnection, merchant: &Merchant| {
        number(conn, &format!("SELECT shard_of('{}')::BIGINT", merchant.id)).await
    };
    let shard_of_busy = shard(&mut looking, &busy).await;
    for n in 0.. {
        if shard(&mut looking, &other).await != shard_of_busy {
            break;
        }
        other = Merchant::create(&authority, &format!("other-{n}")).await;
    }
    let ((slow, gate), quick) = (Receiver::gated(200).await, Receiver::accepting().await);
    busy.endpoint(&slow.url("/busy"), &["*"]).await;
    other.endpoint(&quick.url("/other"), &["*"]).await;
    busy.checkout().await;
    slow.until("the first delivery", |arrivals| arrivals.all.len() == 1).await;

    let hold = format!("BEGIN; SELECT shard FROM turns WHERE shard = {shard_of_busy} FOR UPDATE");
    holding.execute(AssertSqlSafe(hold)).await.unwrap();
    let waiting = tokio::spawn({
        let busy = busy.clone();
        async move { busy.checkout().await }
    });
    eventually("a request that waits", async || (number(&mut looking, WAITING).await == 1).then_some(()))
        .await;
    let ended = Arc::new(AtomicBool::new(false));
    let others: Vec<_> = (0..4)
        .map(|_| {
            let (other, ended) = (other.clone(), Arc::clone(&ended));
            tokio::spawn(async move {
                while !ended.load(Ordering::Relaxed) {
                    other.checkout().await;
                }
            })
        })
        .collect();
    gate.open();
    let arrived = quick.arrivals().accepted("/other");
    quick.until("those of others", |arrivals| arrivals.accepted("/other") >= arrived + 20).await;
    holding.execute("ROLLBACK").await.unwrap();
    waiting.await.unwrap();
    ended.store(true, Ordering::Relaxed);
    for other in others {
        other.await.unwrap();
    }
    let of_busy =
        format!("SELECT COUNT(*) FROM notes WHERE what = 'deliveries' AND merchant = '{}'", busy.id);
    eventually("both outcomes", async || (number(&mut looking, &of_busy).await == 2).then_some(())).await;
    let together = format!(
        "SELECT COUNT(*) FROM notes request JOIN notes outcome ON outcome.made_by = request.made_by \
         WHERE request.what = 'checkouts' AND outcome.what = 'deliveries' \
         AND request.merchant = '{}' AND outcome.merchant = request.merchant",
        busy.id
    );
    assert_eq!(number(&mut looking, &together).await, 1, "in the transaction of the request that waited");
}
