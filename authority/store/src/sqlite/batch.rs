//! Batched writes on SQLite: one statement per table with many rows. The driver prepares a text once and keeps it, so
//! a statement has one of a few numbers of rows, and the rest goes into smaller statements.

use sqlx::sqlite::SqliteArguments;
use sqlx::{Arguments, AssertSqlSafe, Error, SqliteConnection};

use super::rows::{Form, Group, Line, Table, Value, number};

/// The numbers of rows that a statement may have, largest first.
const ROWS: [usize; 4] = [64, 16, 4, 1];

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
