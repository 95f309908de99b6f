//! A real PostgreSQL for tests, and an empty database for each of them.
//!
//! A test program asks for a [`database`]. When `DATABASE_URL` names a server, it is made there. Else the first call
//! starts a temporary cluster: a folder of its own, a socket in that folder and no port, so that any number of test
//! programs run beside each other; not flushing to disk, which no test here is about ([`Durability`]). PostgreSQL
//! refuses to run as root, so root hands the folder and the server to an unprivileged user.
//!
//! The cluster goes away with the test program, however that ends: a watching shell reads from a pipe that only the
//! test program holds, and stops the server when the pipe closes.
//!
//! A test that needs a filled database copies one ([`copy`]), which costs a tenth of filling it. Deliberately absent:
//! pools. An empty database costs some tens of milliseconds.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test stops at what it did not expect"
)]

mod citus;
mod cluster;
mod programs;

use std::sync::LazyLock;
use std::sync::atomic::{AtomicU32, Ordering};

use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection};

pub use citus::{CITUS_URL, CitusDatabase, has_citus};
pub use cluster::{Cluster, Durability, Stop};

/// Names a server that tests may make databases on: `postgres://user:password@host/database`.
pub const DATABASE_URL: &str = "DATABASE_URL";

/// Makes an empty database and tells its address, which [`PgConnectOptions`] and libpq understand.
///
/// # Panics
/// When there is no server to be had, with a sentence on how to get one.
pub async fn database() -> String {
    match std::env::var(DATABASE_URL) {
        Ok(url) => make(&url).await,
        Err(_) => shared().database().await,
    }
}

/// Everything that is in a database, as `pg_dump` writes it.
///
/// # Panics
/// When it cannot be dumped.
#[must_use]
pub fn dump(url: &str) -> Vec<u8> {
    let dumped =
        std::process::Command::new(programs::find("pg_dump")).arg(url).output().expect("pg_dump runs");
    assert!(dumped.status.success(), "{}", String::from_utf8_lossy(&dumped.stderr));
    dumped.stdout
}

/// Makes a copy of the database at `url`, which nobody has open, and tells its address.
///
/// # Panics
/// When it cannot be copied.
pub async fn copy(url: &str) -> String {
    let options: PgConnectOptions = url.parse().expect("an address of a database");
    let name = options.get_database().expect("a named database").to_owned();
    let (postgres, copy) = (named(url, "postgres"), fresh_name());
    let mut conn = postgres.parse::<PgConnectOptions>().unwrap().connect().await.unwrap();
    let statement = format!("CREATE DATABASE {copy} TEMPLATE {name}");
    sqlx::query(AssertSqlSafe(statement)).execute(&mut conn).await.unwrap();
    conn.close().await.unwrap();
    named(url, &copy)
}

/// Writes the database at `url` into `file` and reads it into an empty one, as operators do; tells its address.
///
/// # Panics
/// When one of the programs fails.
pub async fn back_up_and_restore(url: &str, file: &std::path::Path) -> String {
    let run = |program: &str, arguments: &[&std::ffi::OsStr]| {
        let done = std::process::Command::new(programs::find(program)).args(arguments).output().unwrap();
        assert!(done.status.success(), "{program}: {}", String::from_utf8_lossy(&done.stderr));
    };
    let named_file = format!("--file={}", file.display());
    run("pg_dump", &["--format=custom".as_ref(), named_file.as_ref(), url.as_ref()]);
    let restored = database().await;
    let into = format!("--dbname={restored}");
    let options = ["--no-owner", "--exit-on-error", &into];
    run("pg_restore", &[options[0].as_ref(), options[1].as_ref(), options[2].as_ref(), file.as_ref()]);
    restored
}

/// The cluster of this test program.
fn shared() -> &'static Cluster {
    static CLUSTER: LazyLock<Cluster> = LazyLock::new(|| Cluster::start(Durability::Off));
    &CLUSTER
}

/// Makes a database on the server at `url` and tells its address.
async fn make(url: &str) -> String {
    let name = fresh_name();
    let options: PgConnectOptions = url.parse().expect("the address of the server can be read");
    let mut conn = options.connect().await.expect("the server of the tests can be reached");
    // A name from a test program that was killed and whose process id has come round again.
    for statement in [format!("DROP DATABASE IF EXISTS {name}"), format!("CREATE DATABASE {name}")] {
        sqlx::query(AssertSqlSafe(statement)).execute(&mut conn).await.unwrap();
    }
    conn.close().await.unwrap();
    named(url, &name)
}

fn fresh_name() -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    format!("authority_test_{}_{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed))
}

/// `url` with another database.
fn named(url: &str, database: &str) -> String {
    let (address, query) = url.split_once('?').map_or((url, None), |(address, query)| (address, Some(query)));
    let scheme_end = address.find("://").map_or(0, |at| at + 3);
    let server = address[scheme_end..].find('/').map_or(address, |at| &address[..scheme_end + at]);
    query.map_or_else(|| format!("{server}/{database}"), |query| format!("{server}/{database}?{query}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_database_is_named_in_any_address() {
        for (url, expected) in [
            ("postgres://u:p@host:5432/postgres", "postgres://u:p@host:5432/new"),
            ("postgres://host", "postgres://host/new"),
            ("postgresql://u@localhost/x?host=/tmp/a", "postgresql://u@localhost/new?host=/tmp/a"),
            ("postgres://localhost?host=/tmp/a", "postgres://localhost/new?host=/tmp/a"),
        ] {
            assert_eq!(named(url, "new"), expected, "{url}");
        }
    }
}
