//! Batches on SQLite: what many jobs write is one statement per table with many rows, and what they look up by keys is
//! one per kind of key. The driver prepares a text once and keeps it, so a statement has one of a few numbers of rows:
//! what is written beyond goes into smaller statements, and the keys are filled up with some that find nothing.

use std::borrow::Cow;

use sqlx::error::BoxDynError;
use sqlx::sqlite::SqliteArguments;
use sqlx::{Arguments as _, Executor as _, Sqlite, SqliteConnection};

use super::DIALECT;
use crate::driver::{Error, Kind, Row, Statement, Target, Value};
use crate::shards::ShardSet;
use crate::sql::transaction::lookups::{self, Asked};
use crate::sql::transaction::rows::{Form, Group, Line, Table, number};

/// Bounds that are a parameter, and as they are written for SQLite.
const LIMITS: [(&str, &str); 2] = [(" LIMIT $", " LIMIT 0 + $"), (" LIMIT ?", " LIMIT 0 + ?")];

/// The numbers of rows that a statement may have, largest first.
const ROWS: [usize; 4] = [64, 16, 4, 1];

impl Target for Sqlite {
    fn add(arguments: &mut SqliteArguments, value: Value<'_>) -> Result<(), BoxDynError> {
        match value {
            Value::Text(text) => arguments.add(text),
            Value::Int(number) => arguments.add(number),
            Value::Bool(yes) => arguments.add(yes),
            Value::Bytes(bytes) => arguments.add(bytes.as_deref()),
            Value::Shard(_) => arguments.add(0_i64),
        }
    }

    fn push_in(statement: &mut Statement<Self>, values: Vec<String>) -> Result<(), Error> {
        statement.push(" IN (");
        let missing = values.len().next_power_of_two() - values.len();
        let last = values.last().cloned().unwrap_or_default();
        let mut between = "";
        for value in values.into_iter().chain(std::iter::repeat_n(last, missing)) {
            statement.push(between).push_bind(value.into())?;
            between = ", ";
        }
        statement.push(")");
        Ok(())
    }

    fn push_shards(statement: &mut Statement<Self>, _shards: ShardSet) -> Result<(), Error> {
        statement.push(" = 0");
        Ok(())
    }

    /// With as many rows without values as make it one of a few texts.
    fn push_rows(
        statement: &mut Statement<Self>,
        kinds: &[Kind],
        rows: &[Vec<Value<'_>>],
    ) -> Result<(), Error> {
        for n in 0..rows.len().next_power_of_two() {
            statement.push(if n == 0 { "VALUES (" } else { "), (" });
            for column in 0..kinds.len() {
                let value = rows.get(n).and_then(|row| row.get(column));
                statement.push(if column == 0 { "" } else { ", " });
                statement.push_bind(value.cloned().unwrap_or(Value::Text(None)))?;
            }
        }
        statement.push(")");
        Ok(())
    }

    /// SQLite plans by the value of a parameter that stands alone behind `LIMIT`. So it prepares such a statement anew
    /// each time a value is bound, the same one too; it does not look into a sum.
    fn text(text: Cow<'static, str>) -> Cow<'static, str> {
        if LIMITS.iter().any(|(alone, _)| text.contains(alone)) {
            LIMITS.iter().fold(text.into_owned(), |text, (alone, sum)| text.replace(alone, sum)).into()
        } else {
            text
        }
    }
}

/// Sends the groups in order; returns how many rows each touched.
pub(crate) async fn send(conn: &mut SqliteConnection, groups: Vec<Group<'_>>) -> Result<Vec<u64>, Error> {
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
    let mut statement = Statement::<Sqlite>::default();
    for value in lines.iter().flat_map(Line::values) {
        statement.add(value.clone())?;
    }
    let statement = statement.with_text(text(table, lines.len()).into());
    Ok(conn.execute(statement).await?.rows_affected())
}

/// Asks one lookup after the other.
pub(crate) async fn look_up(conn: &mut SqliteConnection, asked: &[Asked]) -> Result<Vec<Row>, Error> {
    let mut rows = Vec::new();
    for Asked { lookup, keys } in asked.iter().filter(|asked| !asked.keys.is_empty()) {
        let mut statement = Statement::<Sqlite>::default();
        statement.push("WITH t AS (");
        Sqlite::push_rows(&mut statement, lookup.key, keys)?;
        statement.push(") ").push(&lookups::text(lookup, "t")).push(&lookups::order());
        rows.extend(conn.fetch_all(statement.finish()).await?.into_iter().map(Row::Sqlite));
    }
    Ok(rows)
}

fn text(table: &Table, rows: usize) -> String {
    let row = format!("({})", vec!["?"; table.columns.kinds.len()].join(", "));
    let values = format!("VALUES {}", vec![row; rows].join(", "));
    let (into, rest) = (table.columns.into, table.rest);
    match (table.form, table.form.select(&DIALECT)) {
        (Form::Update, _) => format!("{into} FROM ({values}) AS v {rest}"),
        (_, Some(select)) => format!("{into} SELECT {select} FROM ({values}) AS v {rest}"),
        (_, None) => format!("{into} {values} {rest}"),
    }
}

#[cfg(test)]
mod tests {
    use super::{Sqlite, Target as _};

    #[test]
    fn no_bound_is_a_parameter_alone() {
        for (text, given) in [
            ("SELECT 1 FROM t WHERE a = $1 LIMIT $2", "SELECT 1 FROM t WHERE a = $1 LIMIT 0 + $2"),
            ("SELECT 1 FROM t LIMIT ? OFFSET ?", "SELECT 1 FROM t LIMIT 0 + ? OFFSET ?"),
            (
                "SELECT (SELECT 1 LIMIT ?) FROM t LIMIT $12",
                "SELECT (SELECT 1 LIMIT 0 + ?) FROM t LIMIT 0 + $12",
            ),
            ("SELECT 1 FROM t ORDER BY a LIMIT 1", "SELECT 1 FROM t ORDER BY a LIMIT 1"),
        ] {
            assert_eq!(Sqlite::text(text.into()), given);
        }
    }
}
