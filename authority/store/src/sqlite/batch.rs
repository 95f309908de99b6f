//! Batches on SQLite: what many jobs write is one statement per table with many rows, and what they look up by keys is
//! one per kind of key. The driver prepares a text once and keeps it, so a statement has one of a few numbers of rows:
//! what is written beyond goes into smaller statements, and the keys are filled up with some that find nothing.

use sqlx::sqlite::SqliteArguments;
use sqlx::{Arguments, AssertSqlSafe, Error, QueryBuilder, SqliteConnection};

use super::lookups::{self, Asked};
use super::rows::{Form, Group, Kind, Line, Table, Value, number};
use super::{Db, DbRow};

/// The numbers of rows that a statement may have, largest first.
const ROWS: [usize; 4] = [64, 16, 4, 1];

/// With fewer keys than this the job that needs a row reads it for itself: that is one statement as well.
pub(super) const WORTH_IT: usize = 2;

/// Runs statements without parameters.
pub(super) async fn control(conn: &mut SqliteConnection, statements: &'static str) -> Result<(), Error> {
    sqlx::query(statements).execute(conn).await?;
    Ok(())
}

/// Sends the groups in order; returns how many rows each touched.
pub(super) async fn send(conn: &mut SqliteConnection, groups: Vec<Group<'_>>) -> Result<Vec<u64>, Error> {
    let mut touched = Vec::with_capacity(groups.len());
    for Group { table, mut lines } in groups {
        let mut rest = lines.as_mut_slice();
        let mut count = 0;
        for size in ROWS {
            while rest.len() >= size {
                let (piece, behind) = rest.split_at_mut(size);
                number(table, piece);
                count += insert(conn, table, piece).await?;
                rest = behind;
            }
        }
        touched.push(count);
    }
    Ok(touched)
}

async fn insert(conn: &mut SqliteConnection, table: &Table, lines: &[Line<'_>]) -> Result<u64, Error> {
    let mut arguments = SqliteArguments::default();
    for value in lines.iter().flat_map(Line::values) {
        match value.clone() {
            Value::Text(text) => arguments.add(text),
            Value::Int(number) => arguments.add(number),
            Value::Bool(yes) => arguments.add(yes),
            Value::Bytes(bytes) => arguments.add(bytes),
        }
        .map_err(Error::Encode)?;
    }
    let query = sqlx::query_with(AssertSqlSafe(text(table, lines.len())), arguments);
    Ok(query.execute(conn).await?.rows_affected())
}

/// Asks one lookup after the other.
pub(super) async fn look_up(conn: &mut SqliteConnection, asked: &[Asked]) -> Result<Vec<DbRow>, Error> {
    let mut rows = Vec::new();
    for Asked { lookup, keys } in asked.iter().filter(|asked| !asked.keys.is_empty()) {
        let mut query = QueryBuilder::<Db>::new("WITH t AS (");
        push_rows(&mut query, lookup.key, keys);
        query.push(") ").push(lookups::text(lookup, "t")).push(lookups::order());
        rows.extend(query.build().fetch_all(&mut *conn).await?);
    }
    Ok(rows)
}

/// Adds `AND column` is one of these, unless there are none.
pub(super) fn push_in(query: &mut QueryBuilder<Db>, column: &'static str, values: &[String]) {
    let Some(last) = values.last() else { return };
    query.push(" AND ").push(column).push(" IN (");
    let mut list = query.separated(", ");
    for n in 0..values.len().next_power_of_two() {
        list.push_bind(values.get(n).unwrap_or(last).clone());
    }
    query.push(")");
}

/// Adds a query of these rows, with columns `column1, …`, and of as many without values as make it one of a few texts.
pub(super) fn push_rows(query: &mut QueryBuilder<Db>, kinds: &[Kind], rows: &[Vec<Value>]) {
    query.push_values(0..rows.len().next_power_of_two(), |mut line, n| {
        for column in 0..kinds.len() {
            match rows.get(n).and_then(|row| row.get(column)) {
                Some(Value::Text(text)) => line.push_bind(text.clone()),
                Some(Value::Int(number)) => line.push_bind(*number),
                Some(Value::Bool(yes)) => line.push_bind(*yes),
                Some(Value::Bytes(bytes)) => line.push_bind(bytes.clone()),
                None => line.push_bind(None::<String>),
            };
        }
    });
}

fn text(table: &Table, rows: usize) -> String {
    let row = format!("({})", vec!["?"; table.columns.len()].join(", "));
    let values = format!("VALUES {}", vec![row; rows].join(", "));
    let Table { into, rest, .. } = table;
    match table.form {
        Form::Insert => format!("{into} {values} {rest}"),
        Form::Select(select) => format!("{into} SELECT {select} FROM ({values}) AS v {rest}"),
        Form::Update => format!("{into} FROM ({values}) AS v {rest}"),
    }
}
