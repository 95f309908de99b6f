//! Citus: the tables of one database on several servers.
//!
//! An operator asks for it once, on the coordinator, with which every instance goes on speaking. Tables with a column
//! `shard` are distributed by it and lie side by side: rows of one shard are on one server. Small tables that
//! statements join with them are copied to every server. Three tables stay on the coordinator, `turns` above all: the
//! locks of its rows have to be in one place.
//!
//! The tables are distributed in one transaction, so a run that was cut off has at most brought the schema up to date
//! and created the extension, which changes nothing for a service that goes on. What a later migration adds is
//! distributed by the next run. Deliberately absent: making the cluster, and moving shards between its servers. Citus
//! does both.

use sqlx::{AssertSqlSafe, PgConnection};

use super::open::migrated;
use crate::error::{Result, StoreError};
use crate::store_url::ServerUrl;

/// What was distributed, and over what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Distribution {
    /// The version of the extension.
    pub citus: String,
    /// Servers that hold shards.
    pub servers: i64,
    /// Tables that this run has distributed by their shards.
    pub distributed: usize,
    /// Small tables that this run has copied to every server.
    pub copied: usize,
}

/// Tables that no statement joins with another one.
const ON_THE_COORDINATOR: [&str; 4] = ["_sqlx_migrations", "instances", "turns", "write_probe"];

/// The table that all others lie beside.
const FIRST: &str = "streams";

/// Tables that are where they were made, and whether they have a shard.
const UNDISTRIBUTED: &str = "SELECT c.relname::TEXT, EXISTS (SELECT 1 FROM pg_attribute a \
        WHERE a.attrelid = c.oid AND a.attname = 'shard' AND NOT a.attisdropped) AS sharded \
    FROM pg_class c WHERE c.relkind = 'r' AND c.relnamespace = to_regnamespace(current_schema()::TEXT) \
        AND c.relname <> ALL($1) AND NOT EXISTS (SELECT 1 FROM pg_dist_partition p WHERE p.logicalrelid = c.oid \
            AND (p.partmethod = 'h' OR p.repmodel = 't')) \
    ORDER BY sharded, c.relname <> $2, c.relname";

/// Foreign keys from and to these tables.
const FOREIGN_KEYS: &str = "SELECT conrelid::regclass::TEXT, conname::TEXT, pg_get_constraintdef(oid) \
    FROM pg_constraint WHERE contype = 'f' \
        AND (conrelid IN (SELECT name::regclass FROM unnest($1) name) \
            OR confrelid IN (SELECT name::regclass FROM unnest($1) name)) ORDER BY 1, 2";

/// Citus takes triggers, and changes of tables that have some, only with this setting. Those of `events` read nothing
/// but their own row and a table that lies beside it.
const ALLOW_TRIGGERS: &str = "SET citus.enable_unsafe_triggers = on; DO $$ BEGIN \
    EXECUTE format('ALTER DATABASE %I SET citus.enable_unsafe_triggers = on', current_database()); END $$";

/// The guard of `events` on a server, where both tables are parts: it looks into the part of `streams` that lies beside
/// its own.
const GUARD: &str =
    "CREATE OR REPLACE FUNCTION events_refuse_removal() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    beside TEXT;
    removed BOOLEAN;
BEGIN
    SELECT shard_name(s.logicalrelid, s.shardid) INTO STRICT beside FROM pg_dist_shard e
        JOIN pg_dist_shard s ON s.shardminvalue = e.shardminvalue
        JOIN pg_class events ON events.oid = e.logicalrelid AND events.relname = 'events'
        JOIN pg_class streams ON streams.oid = s.logicalrelid AND streams.relname = 'streams'
            AND streams.relnamespace = events.relnamespace
        WHERE e.shardid = substring(TG_TABLE_NAME FROM '_([0-9]+)$')::BIGINT;
    EXECUTE format('SELECT EXISTS (SELECT 1 FROM %s WHERE shard = $1 AND merchant_id = $2 AND livemode = $3
            AND removed_through >= $4)', beside)
        INTO removed USING OLD.shard, OLD.merchant_id, OLD.livemode, OLD.sequence;
    IF removed THEN
        RETURN OLD;
    END IF;
    RAISE EXCEPTION 'events are immutable';
END
$$";

/// Whether the server has loaded Citus. Installed files are not enough: the extension cannot be created unless
/// `shared_preload_libraries` names it. Citus' own parameters exist only then.
const IS_LOADED: &str = "SELECT EXISTS (SELECT 1 FROM pg_settings WHERE name = 'citus.shard_count')";

/// From now on all deliveries are numbered by the sequence: above every number that one of them has.
const NUMBER_ON: &str = "/* all shards: start */ SELECT setval('operator_deliveries', GREATEST(last_value, newest.number)) \
    FROM operator_deliveries, (SELECT COALESCE(MAX(created_sequence), 0) AS number FROM deliveries) AS newest";

/// Brings the schema up to date, and distributes what is not distributed yet.
pub(crate) async fn distribute(url: &ServerUrl) -> Result<Distribution> {
    let mut conn = super::open::connect_to_migrate(url).await?;
    if !sqlx::query_scalar::<_, bool>(IS_LOADED).fetch_one(&mut conn).await? {
        return Err(StoreError::NotDistributable(
            "the server does not load the extension Citus (shared_preload_libraries), which distributes a database \
             over several servers",
        ));
    }
    migrated(&mut conn).await?;
    run(&mut conn, "CREATE EXTENSION IF NOT EXISTS citus".to_owned()).await?;
    run(&mut conn, "SET lock_timeout = 0".to_owned()).await?;
    let tables: Vec<(String, bool)> =
        sqlx::query_as(UNDISTRIBUTED).bind(ON_THE_COORDINATOR).bind(FIRST).fetch_all(&mut conn).await?;
    if !tables.is_empty() {
        // What an error leaves open ends with the connection.
        run(&mut conn, ALLOW_TRIGGERS.to_owned()).await?;
        run(&mut conn, "BEGIN; SET LOCAL citus.multi_shard_modify_mode = 'sequential'".to_owned()).await?;
        place(&mut conn, &tables).await?;
        run(&mut conn, "COMMIT".to_owned()).await?;
    }
    let found = "SELECT (SELECT extversion FROM pg_extension WHERE extname = 'citus'), \
        (SELECT COUNT(*) FROM pg_dist_node WHERE shouldhaveshards AND isactive AND noderole = 'primary')";
    let (citus, servers) = sqlx::query_as(found).fetch_one(&mut conn).await?;
    let distributed = tables.iter().filter(|(_, sharded)| *sharded).count();
    Ok(Distribution { citus, servers, distributed, copied: tables.len() - distributed })
}

/// Puts the tables where they belong. Their foreign keys are made anew behind them: Citus takes none that leads from a
/// table that is distributed to one that is not yet.
async fn place(conn: &mut PgConnection, tables: &[(String, bool)]) -> Result<()> {
    let names: Vec<&str> = tables.iter().map(|(name, _)| name.as_str()).collect();
    let keys: Vec<(String, String, String)> =
        sqlx::query_as(FOREIGN_KEYS).bind(&names).fetch_all(&mut *conn).await?;
    for (table, key, _) in &keys {
        run(conn, format!("ALTER TABLE {table} DROP CONSTRAINT {key}")).await?;
    }
    if names.contains(&"events") {
        run(conn, GUARD.to_owned()).await?;
    }
    for (name, sharded) in tables {
        let beside = if name == FIRST { "none" } else { FIRST };
        let statement = match sharded {
            false => format!("SELECT create_reference_table('{name}')"),
            true => {
                format!("SELECT create_distributed_table('{name}', 'shard', colocate_with => '{beside}')")
            }
        };
        run(conn, statement).await?;
    }
    // Citus leaves the rows that a table had in a local copy, which no query sees. Triggers are off while the copies
    // are emptied, because the guard of `events` refuses a TRUNCATE.
    run(conn, "SET LOCAL session_replication_role = replica".to_owned()).await?;
    for name in &names {
        run(conn, format!("SELECT truncate_local_data_after_distributing_table('{name}')")).await?;
    }
    run(conn, "SET LOCAL session_replication_role = origin".to_owned()).await?;
    for (table, key, definition) in &keys {
        run(conn, format!("ALTER TABLE {table} ADD CONSTRAINT {key} {definition}")).await?;
    }
    if names.contains(&"deliveries") {
        run(conn, NUMBER_ON.to_owned()).await?;
    }
    Ok(())
}

async fn run(conn: &mut PgConnection, statements: String) -> Result<()> {
    sqlx::raw_sql(AssertSqlSafe(statements)).execute(conn).await?;
    Ok(())
}
