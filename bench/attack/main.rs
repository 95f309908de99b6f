//! What one hostile merchant can do to the others and to the process: memory, and how long a neighbour waits.
//!
//! Two processes (and PostgreSQL's): `authority serve` (release build, durable settings, no rate limits, so that
//! nothing but what is measured holds the attacker back), and this one, which is the attackers and the neighbour at
//! once. For each database and attack, in one run: the neighbour alone, the neighbour beside the attack, and the
//! memory when the attack has been over for [`AFTER`].
//!
//! An attack is a module with a `prepare`, which makes what it needs, and a `run`, which goes on until it is dropped
//! ([`Attack`]); several that are named together run at once. Run by `cargo xtask bench attack`; words on the command
//! line choose databases and attacks; without them every attack runs alone, and pages and names at once. The attack
//! on names needs root. Not a test: it asserts only that the neighbour is served, all its events arrive, and the
//! doctor finds nothing afterwards.

mod name_server;
mod names;
mod neighbour;
mod pages;

use std::time::Duration;

use bench_kit::database::{Database, Kind};
use bench_kit::figures::Percentiles;
use futures_util::future::{LocalBoxFuture, join_all};
use name_server::NameServer;
use neighbour::Neighbour;
use tests::authority::Authority;
use tests::memory::memory_mib;

/// How long the neighbour is measured, alone and beside an attack.
const TIME: Duration = Duration::from_secs(15);
/// When memory is looked at after an attack.
const AFTER: Duration = Duration::from_secs(45);
/// How often memory is looked at during one.
const LOOK: Duration = Duration::from_millis(20);

/// An attack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Attack {
    /// Pages of large events that nobody reads, by one key.
    Pages,
    /// The same by eight keys.
    ManyKeys,
    /// Endpoints whose names never answer.
    Names,
}

/// What runs when no attack is named.
const RUNS: [&[Attack]; 4] =
    [&[Attack::Pages], &[Attack::ManyKeys], &[Attack::Names], &[Attack::Pages, Attack::Names]];

impl Attack {
    const ALL: [Self; 3] = [Self::Pages, Self::ManyKeys, Self::Names];

    fn name(self) -> &'static str {
        match self {
            Self::Pages => "pages",
            Self::ManyKeys => "pages-of-8-keys",
            Self::Names => "names",
        }
    }

    /// Makes what it needs; what then attacks for ever.
    async fn prepare(self, authority: &Authority) -> LocalBoxFuture<'static, ()> {
        let keys = match self {
            Self::Pages => 1,
            Self::ManyKeys => 8,
            Self::Names => {
                let names = names::prepare(authority).await;
                return Box::pin(async move { names.run().await });
            }
        };
        let pages = pages::prepare(authority, keys).await;
        Box::pin(async move { pages.run().await })
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let named = |name: &str| words.iter().any(|word| word == name);
    let chosen: Vec<Attack> = Attack::ALL.into_iter().filter(|attack| named(attack.name())).collect();
    // Those that are named run at once.
    let runs = if chosen.is_empty() { RUNS.to_vec() } else { vec![chosen.as_slice()] };
    let name_server =
        if runs.concat().contains(&Attack::Names) { Some(NameServer::start().await) } else { None };
    println!(
        "| | attack | memory before, MiB | at most | 45 s after | answers alone, ms: p50 | p95 | p99 \
         | beside it: p50 | p95 | p99 | 503 | arrivals alone, ms: p50 | p95 | p99 | beside it: p50 | p95 | p99 | questions |"
    );
    println!("|---|---|{}", "---:|".repeat(17));
    for kind in Kind::named(&words) {
        let database = Database::make(kind);
        for attacks in &runs {
            measure(&database, attacks, name_server.as_ref()).await;
        }
    }
}

async fn measure(database: &Database, attacks: &[Attack], name_server: Option<&NameServer>) {
    let names: Vec<&str> = attacks.iter().map(|attack| attack.name()).collect();
    let file = format!("attack-{}.db", names.join("-"));
    let mut authority = database.authority(&file, &[("AUTHORITY_LOG", "error")]).await;
    if let Some(name_server) = name_server {
        name_server.serve(&mut authority).await;
    }
    let neighbour = Neighbour::open(&authority).await;
    let attackers = join_all(attacks.iter().map(|attack| attack.prepare(&authority))).await;
    let alone = neighbour.measure(TIME).await;
    let before = memory_mib(authority.pid());
    let questions = || name_server.map_or(0, NameServer::questions);
    let asked_before = questions();
    let attack = join_all(attackers);
    let peak = async {
        let mut peak = before;
        let mut looks = tokio::time::interval(LOOK);
        let until = tokio::time::Instant::now() + TIME;
        while looks.tick().await < until {
            peak = peak.max(memory_mib(authority.pid()));
        }
        peak
    };
    let measured = async { tokio::join!(neighbour.measure(TIME), peak) };
    let (beside, peak) = tokio::select! {
        measured = measured => measured,
        _ = attack => unreachable!("an attack goes on until it is dropped"),
    };
    let asked = questions() - asked_before;
    tokio::time::sleep(AFTER).await;
    let after = memory_mib(authority.pid());
    authority.is_sound().await;
    let spread = |spread: &Percentiles| format!("{:.1} | {:.1} | {:.1}", spread.p50, spread.p95, spread.p99);
    println!(
        "| {} | {} | {before:.0} | {peak:.0} | {after:.0} | {} | {} | {} | {} | {} | {asked} |",
        database.kind.name(),
        names.join(" and "),
        spread(&alone.answers),
        spread(&beside.answers),
        beside.refused,
        spread(&alone.arrivals),
        spread(&beside.arrivals),
    );
}
