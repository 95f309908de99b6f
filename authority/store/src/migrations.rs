//! The migrations of both databases: the files in `migrations/`, compiled in.
//!
//! They are listed by hand. sqlx's macro reads the folder, but compiles all of sqlx a second time, for the build
//! host.
//!
//! A migration whose name begins with `expand_` only adds to the schema (a table, a column that may be left out, an
//! index), so that older programs go on working with it and may be exchanged one by one. Each database holds the names
//! of its migrations, and a program that finds newer ones there goes by them ([`Found`]). All others are breaking: they
//! need every program to be stopped first, or a release in between that no longer uses what they remove.

use std::sync::LazyLock;

use sqlx::SqlSafeStr as _;
use sqlx::migrate::{Migration, MigrationType, Migrator};

use crate::error::{Result, StoreError};

/// Makes a migrator for each database from the files' versions and names.
macro_rules! migrations {
    ($($version:literal $name:literal,)+) => {
        pub(crate) static SQLITE: LazyLock<Migrator> = LazyLock::new(|| {
            migrator(&[$(($version, $name, include_str!(concat!("../migrations/sqlite/", $name, ".sql")))),+])
        });

        pub(crate) static POSTGRES: LazyLock<Migrator> = LazyLock::new(|| {
            migrator(&[$(($version, $name, include_str!(concat!("../migrations/postgres/", $name, ".sql")))),+])
        });
    };
}

migrations! {
    1 "0001_first",
}

/// Reads [`Found`]; `$1` is the newest version that the program knows, `$2` the checksum of its first migration.
pub(crate) const FOUND: &str = "SELECT MAX(version), COUNT(CASE WHEN version > $1 \
    AND description NOT LIKE '____\\_expand\\_%' ESCAPE '\\' THEN 1 END), \
    COUNT(CASE WHEN version = 1 AND checksum <> $2 THEN 1 END) FROM _sqlx_migrations WHERE success";

/// What a program knows of the schema.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Known {
    /// Its newest migration.
    pub(crate) newest: i64,
    /// The checksum of its first migration, with which every database of this schema has begun.
    pub(crate) first: &'static [u8],
}

/// What a database says of its schema.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Found {
    /// The newest migration; 0 when there is none.
    pub(crate) newest: i64,
    /// How many of those that the program does not know may break it.
    breaking: i64,
    /// It began with another first migration: its tables are others.
    foreign: bool,
}

impl Found {
    pub(crate) fn new((newest, breaking, foreign): (Option<i64>, i64, i64)) -> Self {
        Self { newest: newest.unwrap_or(0), breaking, foreign: foreign > 0 }
    }

    /// Whether the program whose newest version is `known` works with this schema.
    pub(crate) fn fits(self, known: i64) -> bool {
        self.newest >= known && self.breaking == 0 && !self.foreign
    }

    /// Refuses a schema that a newer program made, unless that program has only added to it (T9), and one from before
    /// the first release.
    ///
    /// # Errors
    /// [`StoreError::UnknownSchema`], [`StoreError::ForeignSchema`].
    pub(crate) fn refuse_breaking(self, known: i64) -> Result<Self> {
        if self.foreign {
            return Err(StoreError::ForeignSchema);
        }
        if self.breaking > 0 {
            return Err(StoreError::UnknownSchema { found: self.newest, known });
        }
        if self.newest > known {
            let found = self.newest;
            tracing::warn!(
                found,
                known,
                "a newer program has added to the schema; what this program knows is there"
            );
        }
        Ok(self)
    }
}

fn migrator(files: &[(i64, &'static str, &'static str)]) -> Migrator {
    let migration = |&(version, name, sql): &(i64, &'static str, &'static str)| {
        Migration::new(version, name.into(), MigrationType::Simple, sql.into_sql_str(), false)
    };
    let mut migrator = Migrator::with_migrations(files.iter().map(migration).collect());
    // Those that only a newer program knows are judged by `Found`.
    migrator.set_ignore_missing(true);
    migrator
}

/// What this program knows of the schema.
pub(crate) fn known(migrations: &'static Migrator) -> Known {
    Known {
        newest: migrations.iter().map(|migration| migration.version).max().unwrap_or(0),
        first: migrations.iter().next().map_or(&[], |migration| migration.checksum.as_ref()),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use sqlx::ConnectOptions as _;

    use super::*;

    /// sqlx's own reading of the folder: versions, in order, and the bytes of each file.
    #[tokio::test]
    async fn every_file_is_listed_and_nothing_else() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("migrations");
        for (name, listed) in [("sqlite", &SQLITE), ("postgres", &POSTGRES)] {
            let files = Migrator::new(folder.join(name)).await.unwrap();
            let versions = |migrations: &Migrator| -> Vec<_> {
                migrations.iter().map(|migration| (migration.version, migration.checksum.clone())).collect()
            };
            assert_eq!(versions(listed), versions(&files), "{name}");
        }
    }

    const LATER: &str = "ALTER TABLE merchants ADD COLUMN later BIGINT NOT NULL DEFAULT 7; \
        CREATE TABLE later_things (id BIGINT PRIMARY KEY)";

    /// This program's migrations, and one that a later program will have.
    pub(crate) fn with_later(known: &Migrator) -> Migrator {
        let later = Migration::new(
            9001,
            "9001_expand_later".into(),
            MigrationType::Simple,
            LATER.into_sql_str(),
            false,
        );
        let mut all = Migrator::with_migrations(known.iter().cloned().chain([later]).collect());
        all.set_ignore_missing(true);
        all
    }

    /// A later program brings a database with rows up to date, and this one goes on working with it.
    macro_rules! upgraded {
        ($migrations:expr, $conn:expr) => {
            let mut conn = $conn;
            $migrations.run_direct(None, &mut conn, false).await.unwrap();
            let row = "INSERT INTO merchants (id, slug, status, body, created_at, updated_at) \
                VALUES ('mer_1', 'old', 'active', '{}', 0, 0)";
            sqlx::query(row).execute(&mut conn).await.unwrap();
            with_later(&$migrations).run_direct(None, &mut conn, false).await.unwrap();
            let kept = sqlx::query_scalar("SELECT COUNT(*) FROM merchants WHERE later = 7");
            let kept: i64 = kept.fetch_one(&mut conn).await.unwrap();
            assert_eq!(kept, 1);
            $migrations.run_direct(None, &mut conn, false).await.unwrap();
            let known = known(&$migrations);
            let found = sqlx::query_as(FOUND).bind(known.newest).bind(known.first);
            let found = Found::new(found.fetch_one(&mut conn).await.unwrap());
            assert_eq!(found, Found { newest: 9001, breaking: 0, foreign: false });
            assert!(found.fits(known.newest) && !found.fits(9002));
        };
    }

    #[tokio::test]
    async fn a_sqlite_file_is_upgraded_with_its_rows() {
        let directory = tempfile::tempdir().unwrap();
        let options = sqlx::sqlite::SqliteConnectOptions::new().filename(directory.path().join("a.db"));
        upgraded!(SQLITE, options.create_if_missing(true).connect().await.unwrap());
    }

    #[tokio::test]
    async fn a_postgres_database_is_upgraded_with_its_rows() {
        let url = postgres_cluster::database().await;
        upgraded!(
            POSTGRES,
            url.parse::<sqlx::postgres::PgConnectOptions>().unwrap().connect().await.unwrap()
        );
    }

    /// What a migration may do that older programs do not notice. On PostgreSQL an index of a table that is there
    /// already belongs into `postgres/indexes.rs`: here every write of the table would wait until it is built.
    fn only_adds(statement: &str, made: &mut BTreeSet<String>, indexes_anything: bool) -> bool {
        let words: Vec<&str> = statement.split_whitespace().collect();
        match words.as_slice() {
            ["CREATE", "TABLE", name, ..] => made.insert((*name).to_owned()),
            ["CREATE", "INDEX", _, "ON", table, ..] => indexes_anything || made.contains(*table),
            ["ALTER", "TABLE", _, "ADD", "COLUMN", rest @ ..] => {
                let has = |words: &[&str]| rest.windows(words.len()).any(|part| part == words);
                !has(&["NOT", "NULL"]) || has(&["DEFAULT"])
            }
            _ => false,
        }
    }

    #[test]
    fn an_expansion_only_adds() {
        let mut made = BTreeSet::new();
        for (statement, adds) in [
            ("CREATE INDEX i ON t (a)", false),
            ("CREATE TABLE t (a TEXT)", true),
            ("CREATE INDEX i ON t (a)", true),
            ("ALTER TABLE t ADD COLUMN a TEXT COLLATE \"C\"", true),
            ("ALTER TABLE t ADD COLUMN a TEXT NOT NULL DEFAULT 'x'", true),
            ("ALTER TABLE t ADD COLUMN a TEXT NOT NULL", false),
            ("CREATE UNIQUE INDEX i ON t (a)", false),
            ("ALTER TABLE t DROP COLUMN a", false),
            ("ALTER TABLE t RENAME COLUMN a TO b", false),
            ("UPDATE t SET a = 'x'", false),
        ] {
            assert_eq!(only_adds(statement, &mut made, false), adds, "{statement}");
        }
        for (indexes_anything, migrations) in [(true, &SQLITE), (false, &POSTGRES)] {
            let mut made = BTreeSet::new();
            for migration in migrations.iter() {
                if !migration.description.get(5..).is_some_and(|name| name.starts_with("expand_")) {
                    continue;
                }
                let lines =
                    migration.sql.as_str().lines().filter(|line| !line.trim_start().starts_with("--"));
                let text = lines.collect::<Vec<_>>().join("\n");
                for statement in text.split(';').filter(|text| !text.trim().is_empty()) {
                    let adds = only_adds(statement, &mut made, indexes_anything);
                    assert!(adds, "{}: {statement}", migration.description);
                }
            }
        }
    }
}
