//! Batches on PostgreSQL: what many jobs write is one statement, and what they look up by keys is another.
//!
//! Writes: one statement with a part for each table. The rows of a part are sent as one array
//! per column, and the statement returns the counts of all parts as one row. Its text depends on the tables alone, so
//! the server prepares it once. All parts see the rows as they were before the statement. Foreign keys are checked at
//! its end, so a part may refer to rows that another part creates.

use sqlx::{AssertSqlSafe, Error, PgConnection, QueryBuilder, Row};

use super::lookups::{self, Asked};
use super::rows::{Form, Group, Kind, Value, number};
use super::{Db, DbRow};
use crate::shards::ShardSet;

/// With fewer keys than this nothing is looked up before the job that needs it: a round trip for all kinds is fewer
/// than one for each.
pub(super) const WORTH_IT: usize = 1;

/// Runs statements without parameters.
pub(super) async fn control(conn: &mut PgConnection, statements: &'static str) -> Result<(), Error> {
    sqlx::raw_sql(statements).execute(conn).await?;
    Ok(())
}

/// Runs statements without parameters, of which one returns the turns that were taken.
pub(super) async fn turns(conn: &mut PgConnection, statements: String) -> Result<ShardSet, Error> {
    let rows = sqlx::raw_sql(AssertSqlSafe(statements)).fetch_all(conn).await?;
    let mut held = ShardSet::NONE;
    for row in rows {
        let shard: i16 = row.try_get(0)?;
        held = held.or(u32::try_from(shard).map_or(ShardSet::NONE, ShardSet::one));
    }
    Ok(held)
}

/// Sends the groups; returns how many rows each touched.
pub(super) async fn send(conn: &mut PgConnection, groups: Vec<Group<'_>>) -> Result<Vec<u64>, Error> {
    let parts = groups.len();
    let mut query = QueryBuilder::<Db>::default();
    for (n, Group { table, mut lines }) in groups.into_iter().enumerate() {
        number(table, &mut lines);
        query.push(if n == 0 { "WITH w" } else { ", w" }).push(n).push(" AS (").push(table.into);
        match table.form {
            Form::Insert => query.push(" SELECT * FROM UNNEST("),
            Form::Select(select) => query.push(" SELECT ").push(select).push(" FROM UNNEST("),
            Form::Update => query.push(" FROM UNNEST("),
        };
        let mut between = "";
        for (column, kind) in table.columns.iter().enumerate() {
            query.push(between);
            push_column(&mut query, lines.iter().map(|line| line.values().nth(column)), *kind);
            between = ", ";
        }
        query.push(") AS v ").push(column_names(table.columns.len())).push(" ");
        query.push(table.rest).push(" RETURNING 1)");
    }
    let mut between = " SELECT ";
    for n in 0..parts {
        query.push(between).push("(SELECT COUNT(*) FROM w").push(n).push(")");
        between = ", ";
    }
    let row = query.build().fetch_one(conn).await?;
    (0..parts).map(|n| Ok(row.try_get::<i64, _>(n)?.unsigned_abs())).collect()
}

/// Asks all of it with one statement. Its text depends on the lookups alone, whatever the keys are.
pub(super) async fn look_up(conn: &mut PgConnection, asked: &[Asked]) -> Result<Vec<DbRow>, Error> {
    let mut query = QueryBuilder::<Db>::default();
    push_lookups(&mut query, asked);
    query.build().fetch_all(conn).await
}

/// Adds the statement that asks all of it.
pub(super) fn push_lookups(query: &mut QueryBuilder<Db>, asked: &[Asked]) {
    for (n, Asked { lookup, keys }) in asked.iter().enumerate() {
        query.push(if n == 0 { "WITH t" } else { ", t" }).push(n).push(" AS (");
        push_rows(query, lookup.key, keys);
        query.push(")");
    }
    let mut between = " ";
    for (n, Asked { lookup, .. }) in asked.iter().enumerate() {
        query.push(between).push(lookups::text(lookup, &format!("t{n}")));
        between = " UNION ALL ";
    }
    query.push(lookups::order());
}

/// Adds `AND column` is one of these, unless there are none.
pub(super) fn push_in(query: &mut QueryBuilder<Db>, column: &'static str, values: &[String]) {
    if !values.is_empty() {
        query.push(" AND ").push(column).push(" = ANY(").push_bind(values.to_vec()).push(")");
    }
}

/// Adds a query of these rows, with columns `column1, …`.
pub(super) fn push_rows(query: &mut QueryBuilder<Db>, kinds: &[Kind], rows: &[Vec<Value>]) {
    query.push("SELECT * FROM UNNEST(");
    let mut between = "";
    for (column, kind) in kinds.iter().enumerate() {
        query.push(between);
        push_column(query, rows.iter().map(|row| row.get(column)), *kind);
        between = ", ";
    }
    query.push(") AS v ").push(column_names(kinds.len()));
}

/// `(column1, column2, …)`
fn column_names(count: usize) -> String {
    let names: Vec<_> = (1..=count).map(|n| format!("column{n}")).collect();
    format!("({})", names.join(", "))
}

/// One column of all rows, as an array.
fn push_column<'v>(
    query: &mut QueryBuilder<Db>,
    values: impl Iterator<Item = Option<&'v Value>>,
    kind: Kind,
) {
    match kind {
        Kind::Text => {
            let texts = values.map(|value| match value {
                Some(Value::Text(text)) => text.as_deref(),
                _ => None,
            });
            query.push_bind(texts.collect::<Vec<Option<&str>>>()).push("::TEXT[]");
        }
        Kind::Int => {
            let numbers = values.map(|value| match value {
                Some(Value::Int(number)) => *number,
                _ => None,
            });
            query.push_bind(numbers.collect::<Vec<Option<i64>>>()).push("::BIGINT[]");
        }
        Kind::Bool => {
            let answers = values.map(|value| match value {
                Some(Value::Bool(yes)) => *yes,
                _ => None,
            });
            query.push_bind(answers.collect::<Vec<Option<bool>>>()).push("::BOOLEAN[]");
        }
        Kind::Bytes => {
            let texts = values.map(|value| match value {
                Some(Value::Bytes(bytes)) => bytes.as_deref(),
                _ => None,
            });
            query.push_bind(texts.collect::<Vec<Option<&[u8]>>>()).push("::BYTEA[]");
        }
    }
}
