//! Every statement that the store sends while these tests run is parsed, and must name the shard of every sharded table
//! that it reads or writes. The only exceptions say in their texts that they look through all shards, and why
//! (`sql/across.rs`).
//!
//! The statements come from sqlx's own log. The whole program ends with the first that is wrong, whichever test
//! sent it.

use std::collections::HashSet;
use std::io::Write as _;
use std::ops::ControlFlow;
use std::sync::{Mutex, Once, PoisonError};

use sqlparser::ast::{Expr, Insert, Select, Statement, TableFactor, TableObject, Visit as _, Visitor};
use sqlparser::dialect::{Dialect, PostgreSqlDialect, SQLiteDialect};
use sqlparser::parser::Parser;
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt as _};
use tracing_subscriber::util::SubscriberInitExt as _;

use super::SHARDED;

/// How a statement begins that looks through all shards.
const ACROSS: &str = "/* all shards: ";

/// What the receiver's inbox sends, whose database has a table of this name.
const INBOX: [&str; 4] = [
    "INSERT INTO events (id, type, created_at, merchant_id, livemode, received_at, body) \
     VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (id) DO NOTHING",
    "SELECT COUNT(*) FROM events",
    "SELECT body FROM events WHERE status <> $1 ORDER BY received_at, rowid",
    "UPDATE events SET status = $2, attempts = attempts + 1 WHERE id = $1",
];

/// Watches the statements from now on.
pub(crate) fn watch() {
    static BEGUN: Once = Once::new();
    BEGUN.call_once(|| tracing_subscriber::registry().with(Watch::default()).init());
}

#[derive(Default)]
struct Watch {
    seen: Mutex<HashSet<String>>,
}

impl<S: Subscriber> Layer<S> for Watch {
    fn enabled(&self, metadata: &tracing::Metadata<'_>, _: Context<'_, S>) -> bool {
        metadata.target() == "sqlx::query" && *metadata.level() <= Level::DEBUG
    }

    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let mut text = Text::default();
        event.record(&mut text);
        let sql = if text.whole.is_empty() { text.summary } else { text.whole };
        let sql = sql.trim();
        if !self.seen.lock().unwrap_or_else(PoisonError::into_inner).insert(sql.to_owned()) {
            return;
        }
        let unnamed = unnamed(sql);
        if !unnamed.is_empty() {
            // Not `eprintln`, which a test keeps for its own end.
            let _ = writeln!(std::io::stderr(), "a statement does not name the shard of {unnamed:?}:\n{sql}");
            std::process::exit(101);
        }
    }
}

/// A statement as sqlx tells it: short ones as the summary, the others whole.
#[derive(Default)]
struct Text {
    summary: String,
    whole: String,
}

impl Visit for Text {
    fn record_debug(&mut self, _: &Field, _: &dyn std::fmt::Debug) {}

    fn record_str(&mut self, field: &Field, value: &str) {
        match field.name() {
            "summary" => value.clone_into(&mut self.summary),
            "db.statement" => value.clone_into(&mut self.whole),
            _ => {}
        }
    }
}

/// The sharded tables whose shard the statement does not name; the whole text if it cannot be read.
fn unnamed(sql: &str) -> Vec<String> {
    let is_data = ["SELECT", "WITH", "INSERT", "UPDATE", "DELETE"].iter().any(|word| sql.starts_with(word));
    if INBOX.contains(&sql) {
        return Vec::new();
    }
    if !is_data {
        assert!(!sql.starts_with("/*") || sql.starts_with(ACROSS), "{sql}");
        return Vec::new();
    }
    let dialects: [&dyn Dialect; 2] = [&PostgreSqlDialect {}, &SQLiteDialect {}];
    // The one does not know the placeholders of SQLite, the other not all that SQLite does, and neither this lock.
    let numbered = sql.replace('?', "$1").replace(" FOR NO KEY UPDATE", " FOR UPDATE");
    let mut parsed = dialects.into_iter().map(|dialect| Parser::parse_sql(dialect, &numbered));
    let Some(Ok(statements)) = parsed.find(Result::is_ok) else {
        return vec![format!("what cannot be read: {sql}")];
    };
    let mut reader = Reader::default();
    let _ = statements.visit(&mut reader);
    reader.unnamed
}

/// A SELECT, or a statement that writes: its own tables, and those whose shard it compares.
#[derive(Default)]
struct Scope {
    /// Names of sharded tables in it, each with what it is called there.
    tables: Vec<(String, String)>,
    /// What is called so has its shard compared; the empty name is any table's.
    named: HashSet<String>,
}

#[derive(Default)]
struct Reader {
    scopes: Vec<Scope>,
    unnamed: Vec<String>,
}

impl Reader {
    fn name(&mut self, expr: &Expr) {
        let Some(scope) = self.scopes.last_mut() else { return };
        match expr {
            Expr::Identifier(name) if name.value == "shard" => drop(scope.named.insert(String::new())),
            Expr::CompoundIdentifier(names) => {
                if let [table, column] = names.as_slice()
                    && column.value == "shard"
                {
                    scope.named.insert(table.value.clone());
                }
            }
            Expr::Tuple(parts) => parts.iter().for_each(|part| self.name(part)),
            _ => {}
        }
    }

    fn end(&mut self) {
        let Some(scope) = self.scopes.pop() else { return };
        let alone = scope.tables.len() == 1;
        let is_named = |called: &String| scope.named.contains(called) || alone && scope.named.contains("");
        let unnamed = scope.tables.into_iter().filter(|(_, called)| !is_named(called));
        self.unnamed.extend(unnamed.map(|(table, _)| table));
    }
}

impl Visitor for Reader {
    type Break = ();

    fn pre_visit_statement(&mut self, statement: &Statement) -> ControlFlow<()> {
        self.scopes.push(Scope::default());
        if let Statement::Insert(Insert { table: TableObject::TableName(table), columns, .. }) = statement
            && SHARDED.contains(&table.to_string().as_str())
            && columns.iter().all(|column| column.to_string() != "shard")
        {
            self.unnamed.push(table.to_string());
        }
        ControlFlow::Continue(())
    }

    fn post_visit_statement(&mut self, _: &Statement) -> ControlFlow<()> {
        self.end();
        ControlFlow::Continue(())
    }

    fn pre_visit_select(&mut self, _: &Select) -> ControlFlow<()> {
        self.scopes.push(Scope::default());
        ControlFlow::Continue(())
    }

    fn post_visit_select(&mut self, _: &Select) -> ControlFlow<()> {
        self.end();
        ControlFlow::Continue(())
    }

    fn pre_visit_table_factor(&mut self, factor: &TableFactor) -> ControlFlow<()> {
        if let TableFactor::Table { name, alias, .. } = factor
            && let Some(scope) = self.scopes.last_mut()
        {
            let table = name.to_string();
            if SHARDED.contains(&table.as_str()) {
                let called = alias.as_ref().map_or_else(|| table.clone(), |alias| alias.name.value.clone());
                scope.tables.push((table, called));
            }
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        match expr {
            Expr::BinaryOp { left, right, .. } => {
                self.name(left);
                self.name(right);
            }
            Expr::AnyOp { left, .. } => self.name(left),
            Expr::In { expr, .. } => self.name(expr),
            _ => {}
        }
        ControlFlow::Continue(())
    }
}

#[test]
fn a_statement_that_names_no_shard_is_seen() {
    for (sql, expected) in [
        ("SELECT body FROM orders WHERE order_number = $1", &["orders"][..]),
        ("SELECT shard, body FROM orders WHERE order_number = $1 ORDER BY shard", &["orders"]),
        ("SELECT body FROM orders WHERE shard = $1 AND order_number = $2", &[]),
        ("SELECT body FROM orders WHERE shard = ANY($1)", &[]),
        (
            "SELECT o.body FROM orders o JOIN payments p ON p.order_number = o.order_number WHERE o.shard = $1",
            &["payments"],
        ),
        ("SELECT o.body FROM orders o JOIN payments p ON p.shard = o.shard WHERE p.id = $1", &[]),
        ("SELECT body FROM orders o, payments p WHERE shard = $1", &["orders", "payments"]),
        (
            "SELECT 1 FROM streams WHERE shard = $1 AND EXISTS (SELECT 1 FROM events WHERE id = $2)",
            &["events"],
        ),
        (
            "SELECT 1 FROM streams s WHERE EXISTS (SELECT 1 FROM events e WHERE e.shard = s.shard)",
            &["streams"],
        ),
        ("UPDATE orders SET body = $1 WHERE order_number = $2", &["orders"]),
        ("UPDATE orders SET body = v.b FROM (SELECT $1 AS s, $2 AS b) AS v WHERE orders.shard = v.s", &[]),
        ("DELETE FROM orders WHERE (shard, order_number) IN (SELECT shard, id FROM refunds)", &["refunds"]),
        ("WITH w AS (INSERT INTO orders (body) VALUES ($1) RETURNING 1) SELECT COUNT(*) FROM w", &["orders"]),
        ("INSERT INTO orders (shard, body) VALUES ($1, $2)", &[]),
        ("SELECT body FROM merchants WHERE id = $1", &[]),
        ("SELECT 1 FROM orders WHERE shard = 0 UNION ALL SELECT 1 FROM orders", &["orders"]),
        ("/* all shards: operator */ SELECT body FROM orders", &[]),
    ] {
        assert_eq!(unnamed(sql), expected, "{sql}");
    }
}
