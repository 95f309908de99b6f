//! Databases on a cluster of Citus, which the environment names. A test program makes a few and uses them again and
//! again: distributing one takes seconds, and on every server it has a process of its own.

use std::sync::{Mutex, MutexGuard, PoisonError};

use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _, PgConnection};

use crate::{fresh_name, named};

/// Names a database on the coordinator of a cluster, in which its servers are known:
/// `postgres://user:password@host/database`. The user may make databases on all of them.
pub const CITUS_URL: &str = "CITUS_URL";

/// Whether there is a cluster.
#[must_use]
pub fn has_citus() -> bool {
    std::env::var_os(CITUS_URL).is_some()
}

/// Databases that nobody uses: their addresses, and their schemas as they were made.
static FREE: Mutex<Vec<(String, String)>> = Mutex::new(Vec::new());

/// A database for one test; the next one gets it afterwards.
#[derive(Debug)]
pub struct CitusDatabase {
    url: String,
    schema: String,
}

impl CitusDatabase {
    /// A database with the extension and without rows. `fill` is told the address of a new one, and makes the tables.
    ///
    /// # Panics
    /// When the cluster cannot be reached.
    pub async fn take(fill: impl AsyncFnOnce(&str)) -> Self {
        while let Some((url, schema)) = one_free() {
            // One whose schema a test has changed is left behind.
            if schema_of(&url).await == schema {
                empty(&url).await;
                return Self { url, schema };
            }
        }
        Self::new(fill).await
    }

    /// A database that is made for this test.
    ///
    /// # Panics
    /// When the cluster cannot be reached.
    pub async fn new(fill: impl AsyncFnOnce(&str)) -> Self {
        let url = make().await;
        fill(&url).await;
        let schema = schema_of(&url).await;
        Self { url, schema }
    }

    /// Its address on the coordinator.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }
}

impl Drop for CitusDatabase {
    fn drop(&mut self) {
        free().push((std::mem::take(&mut self.url), std::mem::take(&mut self.schema)));
    }
}

fn one_free() -> Option<(String, String)> {
    free().pop()
}

fn free() -> MutexGuard<'static, Vec<(String, String)>> {
    FREE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The columns and the triggers of all tables and the migrations that were run.
async fn schema_of(url: &str) -> String {
    let mut conn = url.parse::<PgConnectOptions>().unwrap().connect().await.unwrap();
    let schema = "SELECT md5(string_agg(a.attrelid::TEXT || a.attname::TEXT, ' ' ORDER BY a.attrelid, a.attname)) \
        || (SELECT md5(string_agg(m::TEXT, ' ' ORDER BY m.version)) FROM _sqlx_migrations m) \
        || (SELECT md5(string_agg(tgname::TEXT, ' ' ORDER BY tgname)) FROM pg_trigger WHERE NOT tgisinternal) \
        FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid \
        WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace AND a.attnum > 0";
    let schema = sqlx::query_scalar(schema).fetch_one(&mut conn).await.unwrap();
    conn.close().await.unwrap();
    schema
}

/// Makes a database on every server of the cluster.
async fn make() -> String {
    // One at a time: a server that is just being added to a database has no connection to spare for another.
    static MAKING: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());
    let _making = MAKING.lock().await;
    let cluster = std::env::var(CITUS_URL).expect("CITUS_URL names a cluster");
    let options: PgConnectOptions = cluster.parse().expect("the address of the cluster can be read");
    let name = fresh_name();
    let mut conn = options.connect().await.expect("the cluster can be reached");
    let nodes = "SELECT nodename, nodeport, groupid = 0 FROM pg_dist_node WHERE noderole = 'primary' ORDER BY groupid";
    let nodes: Vec<(String, i32, bool)> = sqlx::query_as(nodes).fetch_all(&mut conn).await.unwrap();
    conn.close().await.unwrap();
    let url = named(&cluster, &name);
    let mut known = Vec::new();
    for (host, port, is_coordinator) in &nodes {
        let there = |options: PgConnectOptions| match is_coordinator {
            true => options,
            false => options.host(host).port(u16::try_from(*port).unwrap()),
        };
        let mut conn = there(options.clone()).connect().await.unwrap();
        run(&mut conn, format!("DROP DATABASE IF EXISTS {name}")).await;
        run(&mut conn, format!("CREATE DATABASE {name}")).await;
        conn.close().await.unwrap();
        let mut conn = there(options.clone().database(&name)).connect().await.unwrap();
        run(&mut conn, "CREATE EXTENSION citus".to_owned()).await;
        conn.close().await.unwrap();
        known.push(match is_coordinator {
            true => format!("SELECT citus_set_coordinator_host('{host}', {port})"),
            false => format!("SELECT citus_add_node('{host}', {port})"),
        });
    }
    let mut conn = url.parse::<PgConnectOptions>().unwrap().connect().await.unwrap();
    for statement in known {
        run(&mut conn, statement).await;
    }
    conn.close().await.unwrap();
    url
}

/// Removes all rows, and whoever still has the database open.
async fn empty(url: &str) {
    let mut conn = url.parse::<PgConnectOptions>().unwrap().connect().await.unwrap();
    // A trigger that is switched off fires on the workers all the same.
    let guard = "SELECT pg_get_functiondef('events_refuse_change'::regproc)";
    let guard: String = sqlx::query_scalar(guard).fetch_one(&mut conn).await.unwrap();
    let open = "CREATE OR REPLACE FUNCTION events_refuse_change() RETURNS trigger LANGUAGE plpgsql \
        AS $$ BEGIN RETURN NULL; END $$";
    for statement in [open].iter().chain(&EMPTY) {
        run(&mut conn, (*statement).to_owned()).await;
    }
    run(&mut conn, guard).await;
    conn.close().await.unwrap();
}

/// Turns have the rows that they were made with, and the migrations that were run stay so.
const EMPTY: [&str; 3] = [
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() \
     AND pid <> pg_backend_pid() AND backend_type = 'client backend'",
    "DO $$ BEGIN
        EXECUTE (SELECT 'TRUNCATE ' || string_agg(relname::TEXT, ', ') FROM pg_class WHERE relkind = 'r'
            AND relnamespace = 'public'::regnamespace AND relname NOT IN ('_sqlx_migrations', 'turns'));
    END $$",
    "ALTER SEQUENCE operator_deliveries RESTART",
];

async fn run(conn: &mut PgConnection, statement: String) {
    if let Err(error) = sqlx::raw_sql(AssertSqlSafe(statement.as_str())).execute(conn).await {
        panic!("{statement}: {error}");
    }
}
