//! Batches on PostgreSQL: what many jobs write is one statement, and what they look up by keys is another.
//!
//! Writes: one statement with a part for each table. The rows of a part are sent as one array
//! per column, and the statement returns the counts of all parts as one row. Its text depends on the tables alone, so
//! the server prepares it once. All parts see the rows as they were before the statement. Foreign keys are checked at
//! its end, so a part may refer to rows that another part creates.

use sqlx::error::BoxDynError;
use sqlx::postgres::PgArguments;
use sqlx::{Arguments as _, AssertSqlSafe, Executor as _, PgConnection, Postgres, Row as _};

use crate::driver::{Dialect, Error, Kind, Row, Statement, Target, Value};
use crate::shards::{Shard, ShardSet};
use crate::sql::transaction::counter::Counter;
use crate::sql::transaction::lookups::{self, Asked};
use crate::sql::transaction::rows::{Form, Group, Line, Table, number};

impl Target for Postgres {
    fn add(arguments: &mut PgArguments, value: Value<'_>) -> Result<(), BoxDynError> {
        match value {
            Value::Text(text) => arguments.add(text.as_deref()),
            Value::Int(number) => arguments.add(number),
            Value::Bool(yes) => arguments.add(yes),
            Value::Bytes(bytes) => arguments.add(bytes.as_deref()),
            Value::Shard(shard) => arguments.add(shard.number()),
        }
    }

    fn push_in(statement: &mut Statement<Self>, values: Vec<String>) -> Result<(), Error> {
        statement.push(" = ANY(").push_encoded(values)?.push(")");
        Ok(())
    }

    fn push_shards(statement: &mut Statement<Self>, shards: ShardSet) -> Result<(), Error> {
        let numbers: Vec<i16> = shards.all().map(Shard::number).collect();
        match numbers.as_slice() {
            // As a number, so that an index that begins with it gives the rows in the order of what follows.
            [one] => statement.push(" = ").push_encoded(*one)?,
            _ => statement.push(" = ANY(").push_encoded(numbers)?.push(")"),
        };
        Ok(())
    }

    fn push_rows(
        statement: &mut Statement<Self>,
        kinds: &[Kind],
        rows: &[Vec<Value<'_>>],
    ) -> Result<(), Error> {
        statement.push("SELECT * FROM ");
        push_unnest(statement, kinds, |column| rows.iter().map(move |row| row.get(column)))
    }
}

/// Runs statements without parameters, of which one returns the turns that were taken.
pub(crate) async fn turns(conn: &mut PgConnection, statements: String) -> Result<ShardSet, Error> {
    let rows = sqlx::raw_sql(AssertSqlSafe(statements)).fetch_all(conn).await?;
    let mut held = ShardSet::NONE;
    for row in rows {
        let shard: i16 = row.try_get(0)?;
        held = held.or(u32::try_from(shard).map_or(ShardSet::NONE, ShardSet::one));
    }
    Ok(held)
}

/// Sends the groups; returns how many rows each touched.
pub(crate) async fn send(
    conn: &mut PgConnection,
    dialect: &'static Dialect,
    groups: Vec<Group<'_>>,
) -> Result<Vec<u64>, Error> {
    if dialect.tables_apart {
        return send_apart(conn, dialect, groups).await;
    }
    let parts = groups.len();
    let mut statement = Statement::<Postgres>::default();
    for (n, group) in groups.into_iter().enumerate() {
        statement.push(if n == 0 { "WITH w" } else { ", w" }).push_number(n).push(" AS (");
        let Group { table, mut lines } = group;
        number(table, &mut lines);
        let select = table.form.select(dialect);
        let select = if matches!(table.form, Form::Update) { None } else { Some(select.unwrap_or("*")) };
        push_group(&mut statement, table, &lines, (table.columns.into, select, table.rest))?;
        statement.push(" RETURNING 1)");
    }
    let mut between = " SELECT ";
    for n in 0..parts {
        statement.push(between).push("(SELECT COUNT(*) FROM w").push_number(n).push(")");
        between = ", ";
    }
    let row = conn.fetch_one(statement.finish()).await?;
    (0..parts).map(|n| Ok(row.try_get::<i64, _>(n)?.unsigned_abs())).collect()
}

/// Sends each group as a statement of its own.
async fn send_apart(
    conn: &mut PgConnection,
    dialect: &'static Dialect,
    groups: Vec<Group<'_>>,
) -> Result<Vec<u64>, Error> {
    let mut touched = Vec::with_capacity(groups.len());
    for Group { table, mut lines } in groups {
        number(table, &mut lines);
        let into = table.columns.into;
        let inserted = Some(table.form.select(dialect).unwrap_or("*"));
        let parts = match table.form {
            Form::Update => vec![(into, None, table.rest)],
            Form::Counter(Counter { update, moves, begins, .. }) => {
                vec![(update, None, moves), (into, inserted, begins)]
            }
            Form::Insert | Form::SelectIn(_) => vec![(into, inserted, table.rest)],
        };
        let mut count = 0;
        for part in parts {
            let mut statement = Statement::<Postgres>::default();
            push_group(&mut statement, table, &lines, part)?;
            // Without rows that it returns, an upsert on Citus counts those that it left as they were.
            statement.push(" RETURNING 1");
            count += u64::try_from(conn.fetch_all(statement.finish()).await?.len()).unwrap_or(u64::MAX);
        }
        touched.push(count);
    }
    Ok(touched)
}

/// Adds the statement that writes the rows of a table: how it begins, which expressions it selects where it inserts,
/// and how it ends.
fn push_group(
    statement: &mut Statement<Postgres>,
    table: &Table,
    lines: &[Line<'_>],
    (into, select, rest): (&str, Option<&str>, &str),
) -> Result<(), Error> {
    statement.push(into);
    if let Some(select) = select {
        statement.push(" SELECT ").push(select);
    }
    statement.push(" FROM ");
    push_unnest(statement, table.columns.kinds, |column| {
        lines.iter().map(move |line| line.values().nth(column))
    })?;
    statement.push(" ").push(rest);
    Ok(())
}

/// Asks all of it with one statement. Its text depends on the lookups alone, whatever the keys are.
pub(crate) async fn look_up(conn: &mut PgConnection, asked: &[Asked]) -> Result<Vec<Row>, Error> {
    let mut statement = Statement::default();
    push_lookups(&mut statement, asked)?;
    crate::driver::collect(conn.fetch(statement.finish())).await
}

/// Adds the statement that asks all of it.
pub(super) fn push_lookups(statement: &mut Statement<Postgres>, asked: &[Asked]) -> Result<(), Error> {
    for (n, Asked { lookup, keys }) in asked.iter().enumerate() {
        statement.push(if n == 0 { "WITH t" } else { ", t" }).push_number(n).push(" AS (");
        Postgres::push_rows(statement, lookup.key, keys)?;
        statement.push(")");
    }
    let mut between = " ";
    for (n, Asked { lookup, .. }) in asked.iter().enumerate() {
        statement.push(between).push(&lookups::text(lookup, &format!("t{n}")));
        between = " UNION ALL ";
    }
    statement.push(&lookups::order());
    Ok(())
}

/// Adds the rows `v (column1, column2, …)`, each column as an array.
fn push_unnest<'v, V: Iterator<Item = Option<&'v Value<'v>>>>(
    statement: &mut Statement<Postgres>,
    kinds: &[Kind],
    values: impl Fn(usize) -> V,
) -> Result<(), Error> {
    statement.push("UNNEST(");
    for (column, kind) in kinds.iter().enumerate() {
        statement.push(if column == 0 { "" } else { ", " });
        push_column(statement, values(column), *kind)?;
    }
    let names: Vec<_> = (1..=kinds.len()).map(|n| format!("column{n}")).collect();
    statement.push(") AS v (").push(&names.join(", ")).push(")");
    Ok(())
}

/// Adds the values of one variant as an array, with its type.
macro_rules! push_array {
    ($statement:ident, $values:ident, $type:literal, $variant:pat => $value:expr) => {{
        let value = |value: Option<&'v Value<'v>>| if let Some($variant) = value { $value } else { None };
        $statement.push_encoded($values.map(value).collect::<Vec<_>>())?.push($type)
    }};
}

/// One column of all rows, as an array.
fn push_column<'v>(
    statement: &mut Statement<Postgres>,
    values: impl Iterator<Item = Option<&'v Value<'v>>>,
    kind: Kind,
) -> Result<(), Error> {
    match kind {
        Kind::Text => push_array!(statement, values, "::TEXT[]", Value::Text(text) => text.as_deref()),
        Kind::Int => push_array!(statement, values, "::BIGINT[]", Value::Int(number) => *number),
        Kind::Bool => push_array!(statement, values, "::BOOLEAN[]", Value::Bool(yes) => *yes),
        Kind::Shard => {
            push_array!(statement, values, "::SMALLINT[]", Value::Shard(shard) => Some(shard.number()))
        }
        Kind::Bytes => push_array!(statement, values, "::BYTEA[]", Value::Bytes(bytes) => bytes.as_deref()),
    };
    Ok(())
}
