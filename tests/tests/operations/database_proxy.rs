//! The kit's network between a service and its database, on a real server: it delays, counts, stalls, holds and leads
//! elsewhere as it says.

use std::collections::BTreeMap;
use std::time::Duration;

use sqlx::{AssertSqlSafe, Connection as _, PgConnection};
use tests::database_proxy::{DatabaseProxy, Kind};
use tests::{now_ms, within};
use tokio::net::TcpListener;

/// What does not happen is waited for so long.
const NOT_WITHIN: Duration = Duration::from_millis(300);

async fn proxied() -> (DatabaseProxy, PgConnection) {
    let proxy = DatabaseProxy::start(&postgres_cluster::database().await);
    let mut conn = PgConnection::connect(proxy.url()).await.unwrap();
    control(&mut conn, "CREATE TABLE colours (name TEXT); CREATE TABLE shapes (name TEXT)").await;
    (proxy, conn)
}

async fn control(conn: &mut PgConnection, statements: &str) {
    sqlx::raw_sql(AssertSqlSafe(statements.to_owned())).execute(conn).await.unwrap();
}

async fn paint(conn: &mut PgConnection, name: &str) {
    sqlx::query("INSERT INTO colours VALUES ($1)").bind(name).execute(conn).await.unwrap();
}

#[tokio::test]
async fn the_round_trips_of_writing_transactions_are_counted() {
    let (proxy, mut conn) = proxied().await;
    assert!(proxy.take_trips().others > 0);
    // A statement is prepared when it is asked for the first time: one round trip more.
    for _ in 0..2 {
        control(&mut conn, "BEGIN; SAVEPOINT job").await;
        paint(&mut conn, "red").await;
        control(&mut conn, "COMMIT").await;
    }
    control(&mut conn, "BEGIN").await;
    control(&mut conn, "INSERT INTO shapes SELECT name FROM colours").await;
    paint(&mut conn, "blue").await;
    control(&mut conn, "SELECT * FROM shapes FOR UPDATE").await;
    control(&mut conn, "ROLLBACK").await;
    // A transaction that only reads, and a statement that is a transaction of its own.
    control(&mut conn, "BEGIN").await;
    control(&mut conn, "COMMIT").await;
    control(&mut conn, "DELETE FROM shapes").await;

    let trips = proxy.take_trips();
    assert_eq!(trips.histogram, BTreeMap::from([(1, 1), (3, 1), (4, 1), (5, 1)]));
    assert_eq!((trips.transactions(), trips.most(), trips.mean(), trips.others), (4, 5, 3.25, 2));
    let kind = |transactions, trips, most| Kind { transactions, trips, most };
    let kinds = [("colours", kind(2, 7, 4)), ("colours, shapes", kind(1, 5, 5)), ("shapes", kind(1, 1, 1))];
    assert_eq!(trips.kinds, kinds.map(|(tables, kind)| (tables.to_owned(), kind)).into());
    let longest = ["BEGIN", "insert shapes, read colours", "insert colours", "read shapes", "ROLLBACK"]
        .map(str::to_owned);
    assert_eq!(trips.longest, longest);
    assert_eq!(proxy.take_trips().transactions(), 0);
}

#[tokio::test]
async fn a_round_trip_takes_its_time_however_much_is_on_the_way() {
    const ROUND_TRIP: Duration = Duration::from_millis(40);
    let (proxy, mut conn) = proxied().await;
    proxy.delay(ROUND_TRIP);
    let begun = now_ms();
    // Many hundred pieces, each of which is delayed by 20 ms.
    let sql = "SELECT repeat('x', 40000000)";
    let long: String = sqlx::query_scalar(sql).persistent(false).fetch_one(&mut conn).await.unwrap();
    let took = now_ms() - begun;
    assert_eq!(long.len(), 40_000_000);
    assert!((80..8_000).contains(&took), "prepared and run, it took {took} ms");
    assert!(proxy.take_lateness().waits > 100);
}

#[tokio::test]
async fn nothing_passes_in_a_stall() {
    let (proxy, mut conn) = proxied().await;
    proxy.stall();
    let mut asking = Box::pin(conn.ping());
    assert!(tokio::time::timeout(NOT_WITHIN, &mut asking).await.is_err());
    proxy.go_on();
    within("an answer", asking).await.unwrap();
}

#[tokio::test]
async fn a_connection_is_held_in_the_middle_of_a_transaction() {
    let (proxy, mut conn) = proxied().await;
    let mut other = PgConnection::connect(proxy.url()).await.unwrap();
    let transaction = async {
        control(&mut conn, "BEGIN").await;
        control(&mut conn, "INSERT INTO colours VALUES ('red')").await;
        control(&mut conn, "COMMIT").await;
    };
    let mut transaction = Box::pin(transaction);
    let held = tokio::select! {
        // The hold is asked for before anything is sent: on a busy machine all of it may be answered at once.
        biased;
        held = proxy.hold_in_transaction(2) => held,
        () = &mut transaction => panic!("it was not held"),
    };
    assert!(tokio::time::timeout(NOT_WITHIN, &mut transaction).await.is_err());
    let seen = "SELECT COUNT(*) FROM colours";
    let count: i64 = sqlx::query_scalar(seen).fetch_one(&mut other).await.unwrap();
    assert_eq!(count, 0);
    drop(held);
    within("the commit", transaction).await;
    let count: i64 = sqlx::query_scalar(seen).fetch_one(&mut other).await.unwrap();
    assert_eq!(count, 1);
}

#[tokio::test]
async fn connections_are_cut_and_led_to_another_server() {
    let (proxy, mut conn) = proxied().await;
    let other = TcpListener::bind("127.0.0.1:0").await.unwrap();
    proxy.lead_to(&format!("postgres://postgres@{}/any", other.local_addr().unwrap()));
    conn.ping().await.unwrap();
    proxy.cut();
    assert!(conn.ping().await.is_err());
    let connecting = PgConnection::connect(proxy.url());
    tokio::select! {
        accepted = within("a connection to the other server", other.accept()) => drop(accepted.unwrap()),
        connected = connecting => panic!("{connected:?}"),
    }
}
