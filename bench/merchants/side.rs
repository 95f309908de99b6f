//! One authority with its database, and what its process takes at the start and at rest.

use std::path::Path;
use std::time::{Duration, Instant};

use bench_kit::database::Database;
use bench_kit::process::{self, Processes, Signal};
use tests::authority::Authority;
use tests::memory::memory_mib;
use tokio::process::Command;

use crate::fill::{self, Shop};

/// How long a process is looked at while nobody asks it anything.
const REST: Duration = Duration::from_secs(30);

pub(crate) struct Side {
    pub(crate) authority: Authority,
    pub(crate) shop: Shop,
}

/// What a process takes while nobody asks it anything.
pub(crate) struct AtRest {
    /// Processor time per second, in ms: its own, and the database server's.
    pub(crate) cpu_ms: [f64; 2],
    pub(crate) memory_mib: f64,
}

impl Side {
    /// Fills a new database; nobody runs on it.
    pub(crate) async fn make(database: &Database, build: &Path, name: &str, merchants: u64) -> Self {
        let url = database.url(name).await;
        let variables = [("AUTHORITY_DATABASE_URL", url.as_str()), ("AUTHORITY_LOG", "warn")];
        let mut authority = Authority::built_as(build, &variables).await;
        let begun = Instant::now();
        let shop = fill::shop(&mut authority, merchants).await;
        // What the system has not written yet would be written while others wait for the disk.
        assert!(Command::new("sync").status().await.unwrap().success());
        eprintln!(
            "{}: {merchants} merchants, made in {:.0} s",
            database.kind.name(),
            begun.elapsed().as_secs_f64()
        );
        Self { authority, shop }
    }

    /// Is this build from the next start on; the database is migrated for it.
    pub(crate) async fn becomes(&mut self, build: &Path) {
        self.authority.becomes(build);
        let migrated = self.authority.run(&["migrate"]).await;
        assert!(migrated.status.success(), "{migrated:?}");
    }

    /// Starts the service; how long it took until it was ready, in ms.
    pub(crate) async fn start(&mut self) -> f64 {
        let begun = Instant::now();
        self.authority.restart().await;
        begun.elapsed().as_secs_f64() * 1e3
    }

    pub(crate) async fn rest(&self, database: &Database) -> AtRest {
        let processes = Processes { asked: self.authority.pid(), database: database.server() };
        let before = processes.taken();
        tokio::time::sleep(REST).await;
        let taken = processes.taken() - before;
        let per_second = |time: Duration| time.as_secs_f64() * 1e3 / REST.as_secs_f64();
        AtRest {
            cpu_ms: [per_second(taken.asked), per_second(taken.database)],
            memory_mib: memory_mib(self.authority.pid()),
        }
    }

    /// Lets it go on, or holds it.
    pub(crate) fn signal(&self, signal: Signal) {
        process::signal(self.authority.pid(), signal);
    }
}
