//! What the catalogs of both databases say of keys, unique indexes and foreign keys.

use sqlx::Executor as _;

use super::{SHARDED, SMALL};
use crate::postgres::PostgresDatabase;
use crate::sqlite::SqliteFile;

/// Every table; and the first column of every key, unique index and foreign key, with the table that the latter
/// leads to.
const POSTGRES: [&str; 2] = [
    "SELECT relname::TEXT FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace ORDER BY 1",
    "SELECT i.indrelid::regclass::TEXT, i.indexrelid::regclass::TEXT, NULL, a.attname::TEXT FROM pg_index i \
         LEFT JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0] WHERE i.indisunique \
         AND i.indrelid IN (SELECT oid FROM pg_class WHERE relnamespace = 'public'::regnamespace) \
     UNION ALL \
     SELECT c.conrelid::regclass::TEXT, c.conname::TEXT, c.confrelid::regclass::TEXT, a.attname::TEXT \
     FROM pg_constraint c JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = c.conkey[1] \
     WHERE c.contype = 'f' AND c.connamespace = 'public'::regnamespace",
];

const SQLITE: [&str; 2] = [
    "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY 1",
    "SELECT t.name, i.name, NULL, c.name FROM sqlite_schema t, pragma_index_list(t.name) i, pragma_index_info(i.name) c \
     WHERE t.type = 'table' AND i.\"unique\" AND c.seqno = 0 \
     UNION ALL \
     SELECT t.name, 'to ' || f.\"table\", f.\"table\", f.\"from\" FROM sqlite_schema t, pragma_foreign_key_list(t.name) f \
     WHERE t.type = 'table' AND f.seq = 0",
];

/// A key that does not begin with the shard.
const WRONG: &str =
    "ALTER TABLE checkpoints ADD COLUMN wrong BIGINT; CREATE UNIQUE INDEX wrong ON checkpoints (wrong)";

type Key = (String, String, Option<String>, Option<String>);

/// The keys of sharded tables that do not begin with the shard. Foreign keys to small tables may.
fn wrong(keys: &[Key]) -> Vec<&str> {
    let is_wrong = |(table, _, to, first): &&Key| {
        SHARDED.contains(&table.as_str())
            && to.as_ref().is_none_or(|to| SHARDED.contains(&to.as_str()))
            && first.as_deref() != Some("shard")
    };
    keys.iter().filter(is_wrong).map(|(_, name, ..)| name.as_str()).collect()
}

macro_rules! check {
    ($conn:expr, $asked:expr) => {
        let mut conn = $conn;
        let [tables, keys] = $asked;
        let tables: Vec<String> = sqlx::query_scalar(tables).fetch_all(&mut conn).await.unwrap();
        let mut known = [SHARDED.as_slice(), &SMALL].concat();
        known.retain(|table| *table != "turns" || tables.iter().any(|found| found == "turns"));
        known.sort_unstable();
        assert_eq!(tables, known, "every table is in one of the lists");
        let found: Vec<Key> = sqlx::query_as(keys).fetch_all(&mut conn).await.unwrap();
        assert!(found.len() > 60, "{found:?}");
        assert_eq!(wrong(&found), Vec::<&str>::new());
        conn.execute(sqlx::raw_sql(WRONG)).await.unwrap();
        let found: Vec<Key> = sqlx::query_as(keys).fetch_all(&mut conn).await.unwrap();
        assert_eq!(wrong(&found), ["wrong"], "what is wrong is seen");
    };
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_key_of_a_sharded_table_begins_with_the_shard_on_postgres() {
    check!(PostgresDatabase::migrated().await.connect().await, POSTGRES);
}

#[tokio::test]
async fn every_key_of_a_sharded_table_begins_with_the_shard_on_sqlite() {
    let file = SqliteFile::migrated().await;
    check!(file.connect().await, SQLITE);
}
