//! The soak: half of what the authority can carry, for as long as is asked, with a look at it every minute.
//!
//! Each minute is a turn of its own: so many requests per second, then everything must have arrived, and then memory,
//! open file handles, the write-ahead log and the tables are looked at, while nothing is under way. The first third
//! of the minutes is for warming up. In the two thirds after it ([`Third`]) nothing may grow any more:
//!
//! - memory: the median of the last third is at most 5 % and 2 MiB above that of the second;
//! - file handles: the most in the last third are no more than the most in the second;
//! - write-ahead log: the most in the last third is at most 10 % and 4 MiB above the most in the second, or within what
//!   PostgreSQL is set to keep before it begins anew (`max_wal_size`);
//! - tables: events are kept, so they grow, but by the same: bytes per event in the last third are at most 10 % above
//!   those in the second, and nothing waits or is leased after any minute.
//!
//! Ends with a failure when any of it does not hold.

use std::time::Duration;

use bench_kit::database::{Database, Kind};
use bench_kit::figures::median;
use bench_kit::process::open_handles;
use sqlx::{Connection as _, Row as _};
use tests::memory::memory_mib;

use crate::choice::Choice;
use crate::receiver::Receivers;
use crate::stand::{MERCHANTS, Shop};

/// Before a look: outcomes are written, and connections to receivers that rest are closed after 4 s, so that those
/// that are left do not depend on the last moment's load.
const REST: Duration = Duration::from_secs(6);
const MINUTE: Duration = Duration::from_secs(60);

/// What is seen after a minute.
#[derive(Clone, Copy, Debug)]
struct Look {
    memory_mib: f64,
    handles: f64,
    log_mib: f64,
    /// Of the whole database without the log.
    tables_mib: f64,
    unfinished: i64,
    events: f64,
}

/// The minutes of one third.
type Third<'l> = &'l [Look];

struct Soaked {
    database: Kind,
    shop: Shop,
}

/// Whether nothing grew.
pub(crate) async fn measure(database: &Database, choice: &Choice) -> bool {
    let shop = Shop::open(database, &Receivers::default(), MERCHANTS, 1, &[]).await;
    let soaked = Soaked { database: database.kind, shop };
    let rate = soaked.shop.capacity(choice.turn).await / 2.0;
    let name = database.kind.name();
    println!("\n{name}: {rate:.0} requests/s for {} minutes", choice.minutes);
    println!(
        "| minute | due to arrival ms, p50 p99 | CPU µs each | memory MiB | handles | log MiB | tables MiB |"
    );
    println!("|---:|---:|---:|---:|---:|---:|---:|");
    let mut looks = Vec::new();
    for minute in 1..=choice.minutes {
        let turn = soaked.shop.ask(rate, MINUTE).await;
        let look = soaked.look().await;
        println!(
            "| {minute} | {:.2} {:.2} | {:.0} | {:.1} | {} | {:.1} | {:.1} |",
            turn.from_due.p50,
            turn.from_due.p99,
            turn.cpu_us + turn.database_cpu_us,
            look.memory_mib,
            look.handles,
            look.log_mib,
            look.tables_mib
        );
        looks.push(look);
    }
    let third = looks.len().div_ceil(3);
    let (second, last) = looks[third..].split_at((looks.len() - third) / 2);
    let verdicts = verdicts(second, last, soaked.log_kept_mib().await);
    for (what, before, after, sound) in &verdicts {
        println!("{name}: {what}: {before:.2} in the second third, {after:.2} in the last: {}", word(*sound));
    }
    let settled = looks.iter().all(|look| look.unfinished == 0);
    println!("{name}: nothing waited after any minute: {}", word(settled));
    settled && verdicts.iter().all(|(.., sound)| *sound)
}

fn word(sound: bool) -> &'static str {
    if sound { "flat" } else { "GREW" }
}

/// The rules of the story, each with its two figures.
fn verdicts(second: Third<'_>, last: Third<'_>, log_kept_mib: f64) -> [(&'static str, f64, f64, bool); 4] {
    let rule = |what, figure: fn(Third<'_>) -> f64, share: f64, more: f64, allowed: f64| {
        let (before, after) = (figure(second), figure(last));
        (what, before, after, after <= allowed.max(before * share + more))
    };
    [
        rule(
            "memory, MiB",
            |looks| median(looks.iter().map(|look| look.memory_mib).collect()),
            1.05,
            2.0,
            0.0,
        ),
        rule("file handles", |looks| most(looks, |look| look.handles), 1.0, 0.0, 0.0),
        rule("write-ahead log, MiB", |looks| most(looks, |look| look.log_mib), 1.1, 4.0, log_kept_mib),
        rule("tables, KiB per event", growth, 1.1, 0.0, 0.0),
    ]
}

fn most(looks: Third<'_>, figure: fn(&Look) -> f64) -> f64 {
    looks.iter().map(figure).fold(0.0, f64::max)
}

/// From the first to the last minute of a third.
fn growth(looks: Third<'_>) -> f64 {
    let (first, last) = (looks[0], looks[looks.len() - 1]);
    (last.tables_mib - first.tables_mib) * 1024.0 / (last.events - first.events)
}

impl Soaked {
    fn url(&self) -> &str {
        self.shop.authority.database_url()
    }

    async fn look(&self) -> Look {
        tokio::time::sleep(REST).await;
        let (log, tables, unfinished, events) = match self.database {
            Kind::Sqlite => self.sqlite().await,
            Kind::Postgres => self.postgres().await,
        };
        let mib = |bytes: i64| bytes as f64 / 1_048_576.0;
        Look {
            memory_mib: memory_mib(self.shop.authority.pid()),
            handles: open_handles(self.shop.authority.pid()) as f64,
            log_mib: mib(log),
            tables_mib: mib(tables),
            unfinished,
            events: events as f64,
        }
    }

    /// 0 on SQLite, whose log begins anew as soon as it can.
    async fn log_kept_mib(&self) -> f64 {
        if self.database == Kind::Sqlite {
            return 0.0;
        }
        let mut conn = sqlx::PgConnection::connect(self.url()).await.unwrap();
        let setting = "SELECT setting::bigint FROM pg_settings WHERE name = 'max_wal_size'";
        let kept: i64 = sqlx::query_scalar(setting).fetch_one(&mut conn).await.unwrap();
        conn.close().await.unwrap();
        kept as f64
    }

    async fn sqlite(&self) -> (i64, i64, i64, i64) {
        let path = self.url().strip_prefix("sqlite://").unwrap();
        let log = std::fs::metadata(format!("{path}-wal")).map_or(0, |file| file.len());
        let options = bench_kit::database::sqlite_options(path).read_only(true);
        let mut conn = sqlx::SqliteConnection::connect_with(&options).await.unwrap();
        let row = sqlx::query(sqlx::AssertSqlSafe(format!(
            "SELECT (SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()), {COUNTS}"
        )));
        let row = row.fetch_one(&mut conn).await.unwrap();
        conn.close().await.unwrap();
        (i64::try_from(log).unwrap(), row.get(0), row.get(1), row.get(2))
    }

    async fn postgres(&self) -> (i64, i64, i64, i64) {
        let mut conn = sqlx::PgConnection::connect(self.url()).await.unwrap();
        let row = sqlx::query(sqlx::AssertSqlSafe(format!(
            "SELECT (SELECT SUM(size)::bigint FROM pg_ls_waldir()), pg_database_size(current_database()), {COUNTS}"
        )));
        let row = row.fetch_one(&mut conn).await.unwrap();
        conn.close().await.unwrap();
        (row.get(0), row.get(1), row.get(2), row.get(3))
    }
}

/// Deliveries that are not finished, and all events, by the streams' counters.
const COUNTS: &str = "(SELECT COUNT(*) FROM deliveries WHERE status = 'pending'), \
     (SELECT CAST(SUM(last_sequence) AS BIGINT) FROM streams)";
