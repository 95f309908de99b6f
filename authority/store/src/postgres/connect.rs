//! Opening a connection: what it is told first, and whether the tables are distributed (`distribute`).

use std::time::Duration;

use sqlx::postgres::PgConnectOptions;
use sqlx::{ConnectOptions, PgConnection, Row as _};
use tokio::time::timeout;

use super::{CITUS, DIALECT};
use crate::driver::Dialect;
use crate::error::{Result, StoreError};

/// How long to wait for the server to accept a connection and to answer [`PREPARE`].
const CONNECT_WAIT: Duration = Duration::from_secs(5);

/// Whether the tables are distributed: the one that all others lie beside.
macro_rules! is_distributed {
    () => {
        "EXISTS (SELECT 1 FROM pg_dist_partition WHERE logicalrelid = to_regclass('streams') AND partmethod = 'h')"
    };
}

/// What a new connection is told; the last row says whether the database has Citus. Durability is not configurable in
/// the authority: a commit that was answered survives a power cut (T1).
const PREPARE: &str = "\
    SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'; \
    SELECT to_regclass('pg_dist_partition') IS NOT NULL";

/// What it is told where there is Citus; the last row says whether the tables are distributed. The extension alone,
/// which is created while a service runs, changes nothing. Citus plans a statement by its values, which name the
/// servers, and a transaction asks each server over one connection: over a second one it would not see what it wrote.
const PREPARE_DISTRIBUTED: &str = concat!(
    "SELECT set_config('plan_cache_mode', 'force_custom_plan', false), \
        set_config('citus.multi_shard_modify_mode', 'sequential', false) WHERE ",
    is_distributed!(),
    "; SELECT ",
    is_distributed!()
);

/// Opens a connection, within [`CONNECT_WAIT`].
pub(super) async fn connect(options: &PgConnectOptions) -> Result<(PgConnection, &'static Dialect)> {
    let opening = async {
        let mut conn = options.connect().await?;
        let is_distributed =
            says_yes(&mut conn, PREPARE).await? && says_yes(&mut conn, PREPARE_DISTRIBUTED).await?;
        Ok((conn, if is_distributed { &CITUS } else { &DIALECT }))
    };
    let opened = timeout(CONNECT_WAIT, opening).await;
    opened.unwrap_or_else(|_| Err(StoreError::Unavailable("the database server does not answer".to_owned())))
}

/// Runs statements, and returns what the last row says.
async fn says_yes(conn: &mut PgConnection, statements: &'static str) -> Result<bool> {
    let rows = sqlx::raw_sql(statements).fetch_all(conn).await?;
    Ok(rows.last().map_or(Ok(false), |row| row.try_get(0))?)
}

#[cfg(test)]
mod tests {
    use std::str::FromStr as _;

    use super::*;

    /// The extension may be there long before the tables are distributed, or some of them are only known to it.
    #[tokio::test]
    async fn a_database_is_distributed_by_its_tables_and_not_by_the_extension() {
        let options = PgConnectOptions::from_str(&postgres_cluster::database().await).unwrap();
        let mut beside = connect(&options).await.unwrap().0;
        for (sql, expected) in [
            ("CREATE TABLE streams (shard SMALLINT)", false),
            ("CREATE TABLE pg_dist_partition (logicalrelid REGCLASS, partmethod \"char\")", false),
            ("INSERT INTO pg_dist_partition VALUES ('streams', 'n')", false),
            ("UPDATE pg_dist_partition SET partmethod = 'h'", true),
        ] {
            sqlx::raw_sql(sql).execute(&mut beside).await.unwrap();
            assert_eq!(connect(&options).await.unwrap().1.shards_apart, expected, "{sql}");
        }
    }
}
