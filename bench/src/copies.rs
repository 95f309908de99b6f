//! Copies of one record, made by the database: a long history in minutes.

use std::ops::RangeInclusive;

use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _};

/// A row that is copied, and what is another in copy `n`.
#[derive(Clone, Copy, Debug)]
pub struct Copied<'a> {
    /// Where it is.
    pub table: &'a str,
    /// Which row, as a condition; of several one is taken.
    pub row: &'a str,
    /// Columns and expressions.
    pub changed: &'a [(&'a str, &'a str)],
}

impl Copied<'_> {
    /// Makes the copies with these numbers; in columns that are not named otherwise, `usual` is changed as well.
    pub async fn copy(&self, url: &str, copies: RangeInclusive<u64>, usual: &[(&str, &str)]) {
        let columns = columns(url, self.table).await;
        let value = |column: &String| {
            let changed = self.changed.iter().chain(usual).find(|(name, _)| name == column);
            changed.map_or(column.as_str(), |(_, value)| value).to_owned()
        };
        let values: Vec<String> = columns.iter().map(value).collect();
        let statement = format!(
            "INSERT INTO {table} ({columns}) WITH RECURSIVE n(n) AS (SELECT CAST({first} AS BIGINT) \
                 UNION ALL SELECT n + 1 FROM n WHERE n < {last}) \
             SELECT {values} FROM n CROSS JOIN (SELECT * FROM {table} WHERE {row} LIMIT 1) AS one",
            table = self.table,
            columns = columns.join(", "),
            first = copies.start(),
            last = copies.end(),
            values = values.join(", "),
            row = self.row,
        );
        execute(url, &statement).await;
    }
}

/// The columns of a table that can be written.
pub async fn columns(url: &str, table: &str) -> Vec<String> {
    if url.starts_with("postgres") {
        let sql = "SELECT column_name::text FROM information_schema.columns WHERE table_name = $1 AND is_generated = 'NEVER'";
        let mut conn = url.parse::<sqlx::postgres::PgConnectOptions>().unwrap().connect().await.unwrap();
        sqlx::query_scalar(sql).bind(table).fetch_all(&mut conn).await.unwrap()
    } else {
        let sql = "SELECT name FROM pragma_table_info($1)";
        let mut conn = url.parse::<sqlx::sqlite::SqliteConnectOptions>().unwrap().connect().await.unwrap();
        sqlx::query_scalar(sql).bind(table).fetch_all(&mut conn).await.unwrap()
    }
}

/// Runs a statement that answers nothing.
pub async fn execute(url: &str, statement: &str) {
    let sql = || AssertSqlSafe(statement.to_owned());
    if url.starts_with("postgres") {
        let mut conn = url.parse::<sqlx::postgres::PgConnectOptions>().unwrap().connect().await.unwrap();
        sqlx::raw_sql(sql()).execute(&mut conn).await.unwrap();
        conn.close().await.unwrap();
    } else {
        let mut conn = url.parse::<sqlx::sqlite::SqliteConnectOptions>().unwrap().connect().await.unwrap();
        sqlx::raw_sql(sql()).execute(&mut conn).await.unwrap();
        conn.close().await.unwrap();
    }
}
