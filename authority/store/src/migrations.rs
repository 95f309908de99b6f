//! The migrations of both databases: the files in `migrations/`, compiled in.
//!
//! They are listed by hand. sqlx's macro reads the folder, but compiles all of sqlx a second time, for the build
//! host.

use std::sync::LazyLock;

use sqlx::SqlSafeStr as _;
use sqlx::migrate::{Migration, MigrationType, Migrator};

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
    2 "0002_commerce",
    3 "0003_refunds",
    4 "0004_orders",
    5 "0005_fulfilment",
    6 "0006_subscriptions",
    7 "0007_endpoints",
    8 "0008_operator",
    9 "0009_audit",
    10 "0010_of_order",
    11 "0011_holding_back",
    13 "0013_repair",
    14 "0014_retention",
    15 "0015_sync",
    16 "0016_partners",
    17 "0017_limits",
    18 "0018_in_flight",
    19 "0019_money",
    20 "0020_requests",
    21 "0021_sandbox_clock",
    22 "0022_turns",
    23 "0023_signature_profile",
    25 "0025_causes",
}

fn migrator(files: &[(i64, &'static str, &'static str)]) -> Migrator {
    let migration = |&(version, name, sql): &(i64, &'static str, &'static str)| {
        Migration::new(version, name.into(), MigrationType::Simple, sql.into_sql_str(), false)
    };
    Migrator::with_migrations(files.iter().map(migration).collect())
}

/// The schema version that this program knows: the newest migration.
pub(crate) fn newest(migrations: &Migrator) -> i64 {
    migrations.iter().map(|migration| migration.version).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

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
}
