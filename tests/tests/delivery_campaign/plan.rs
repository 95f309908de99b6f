//! The numbers of a run: small ones for the tests, those of the environment for `cargo xtask prove`.

use std::time::Duration;

use tests::{Database, now_ms};

/// Waits before the attempts of one delivery, in seconds: `AUTHORITY_RETRY_SCHEDULE`.
pub(crate) const SCHEDULE: &str = "0,1,1,1,1,1,1,1,1,1,1,1";
/// As many as the schedule has.
pub(crate) const ATTEMPTS: i64 = 12;
/// Attempts of a test delivery (contract 4.10).
pub(crate) const TEST_ATTEMPTS: i64 = 3;
/// Attempts when the receiver refuses: `AUTHORITY_REJECTED_ATTEMPTS`.
pub(crate) const REJECTED_ATTEMPTS: i64 = 4;
/// `AUTHORITY_DELIVERY_TIMEOUT_MS`.
pub(crate) const TIMEOUT_MS: i64 = 1_500;

/// What a run does.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) database: Database,
    /// What everything random is drawn from.
    pub(crate) seed: u64,
    /// Instances killed.
    pub(crate) kills: usize,
    /// After so many kills an instance is stopped in order.
    pub(crate) stop_every: usize,
    /// After so many kills something happens to the database server, where there is one.
    pub(crate) fault_every: usize,
    /// Instances on the one database; SQLite has one.
    pub(crate) instances: usize,
    /// After so many kills the database server is lost for good and its standby takes over, where there is a server.
    pub(crate) failover_after: Option<usize>,
    pub(crate) merchants: usize,
    /// Per merchant.
    pub(crate) clients: usize,
    /// Writes per second of all clients together.
    pub(crate) rate: u32,
    /// Whether an instance is killed while endpoints catch up; what it had in flight takes a minute more then.
    pub(crate) kill_in_the_end: bool,
    /// How long everything may take to be delivered at the end.
    pub(crate) heal_within: Duration,
}

impl Plan {
    /// For the tests.
    pub(crate) fn short(database: Database, seed: u64, kills: usize) -> Self {
        Self {
            database,
            seed,
            kills,
            stop_every: 9,
            fault_every: 6,
            instances: 3,
            failover_after: None,
            merchants: 3,
            clients: 2,
            rate: 40,
            kill_in_the_end: false,
            heal_within: Duration::from_secs(300),
        }
    }

    /// The numbers that the environment names; a seed of its own where it names none.
    pub(crate) fn of_environment(database: Database) -> Self {
        let number = |name: &str| std::env::var(name).ok().map(|text| text.parse::<u64>().expect(name));
        let seed = number("CAMPAIGN_SEED").unwrap_or_else(|| now_ms().unsigned_abs());
        let kills = number("CAMPAIGN_KILLS").unwrap_or(200);
        let rate = number("CAMPAIGN_RATE").unwrap_or(60);
        Self {
            stop_every: 15,
            fault_every: 10,
            instances: 4,
            failover_after: Some(usize::try_from(kills / 2).expect("CAMPAIGN_KILLS")),
            clients: 4,
            kill_in_the_end: true,
            rate: u32::try_from(rate).expect("CAMPAIGN_RATE"),
            heal_within: Duration::from_secs(900),
            ..Self::short(database, seed, usize::try_from(kills).expect("CAMPAIGN_KILLS"))
        }
    }

    /// Instances on the one database.
    pub(crate) fn instances(&self) -> usize {
        match self.database {
            Database::Sqlite => 1,
            Database::Postgres | Database::Citus => self.instances,
        }
    }
}
