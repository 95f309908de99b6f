//! Every page of the console and of the portal beside a million events (bench/README.md, "Pages").
//!
//! Processes: `authority serve` (release build), its database, and this one, which makes the history ([`fill`]) and
//! asks. One reader signs in to the console and opens a link to the portal, and asks for every page ([`asks`]): alone,
//! and beside clients of the API ([`load`]). There the clients have the service with the reader and without in turns,
//! so that what else the machine does hits both alike; so the same run says what the reader costs the API.
//!
//! Run by `cargo xtask bench pages`. Words on the command line choose: `sqlite` or `postgres`, `events=100000`,
//! `rounds=2`, and `only="first page"`, the pages whose names have these words, so that few rounds ask for each of
//! them often. Not a test: it asserts only that answers are good.

mod asks;
mod browser;
mod fill;
mod load;

use std::cell::Cell;
use std::time::{Duration, Instant};

use asks::Named;
use bench_kit::database::{Database, Kind};
use bench_kit::figures::{median, percentile};
use browser::Browser;
use load::Load;

/// How often each page is asked for without other load.
const TIMES: usize = 20;
/// One turn of the clients of the API, with the reader or without.
const TURN: Duration = Duration::from_secs(5);
/// How long the reader looks at a page.
const PAUSE: Duration = Duration::from_millis(100);
/// The goals: server time at the 95th percentile, the size of a page, and the API's p95 in parts of its own without a
/// reader.
const GOAL_MS: f64 = 50.0;
const GOAL_BYTES: usize = 60 * 1024;
const GOAL_RATIO: f64 = 1.1;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let number = |name| words.iter().find_map(|word| word.strip_prefix(name)?.parse().ok());
    let events = number("events=").unwrap_or(1_000_000);
    let rounds = number("rounds=").unwrap_or(30);
    let only = words.iter().find_map(|word| word.strip_prefix("only=")).unwrap_or_default();
    for kind in Kind::named(&words) {
        measure(kind, events, rounds, only).await;
    }
}

/// A site with its reader and its pages, and what was measured of each.
struct Site {
    name: &'static str,
    browser: Browser,
    pages: Vec<Measured>,
}

struct Measured {
    page: Named,
    bytes: usize,
    alone: Vec<f64>,
    loaded: Vec<f64>,
}

impl Site {
    fn new(name: &'static str, browser: Browser, pages: Vec<Named>) -> Self {
        let measured = |page| Measured { page, bytes: 0, alone: Vec::new(), loaded: Vec::new() };
        Self { name, browser, pages: pages.into_iter().map(measured).collect() }
    }

    /// Asks for one of its pages; the time in ms.
    async fn ask(&mut self, page: usize) -> f64 {
        let page = &mut self.pages[page];
        let begun = Instant::now();
        page.bytes = self.browser.ask(&page.page.asked).await;
        begun.elapsed().as_secs_f64() * 1e3
    }
}

async fn measure(kind: Kind, events: u64, rounds: u64, only: &str) {
    let database = Database::make(kind);
    let mut authority = database.authority("pages", &[("AUTHORITY_LOG", "error")]).await;
    let begun = Instant::now();
    let history = fill::history(&mut authority, events).await;
    println!("\n{}: {events} events, made in {:.0} s\n", kind.name(), begun.elapsed().as_secs_f64());
    let mut browser = Browser::of_the_console(&authority).await;
    let pages = asks::console(&mut browser, &authority, &history).await;
    let mut sites = vec![Site::new("console", browser, pages)];
    let mut browser = Browser::of_the_portal(&authority, &history.large).await;
    let pages = asks::portal(&mut browser, &authority, &history).await;
    sites.push(Site::new("portal", browser, pages));
    for site in &mut sites {
        site.pages.retain(|measured| measured.page.name.contains(only));
        for _ in 0..TIMES {
            for page in 0..site.pages.len() {
                let took = site.ask(page).await;
                site.pages[page].alone.push(took);
            }
        }
    }
    let mut load = Load::open(&authority, &history).await;
    let api = beside_each_other(&mut load, &mut sites, rounds).await;
    told(kind.name(), &mut sites, &api);
}

/// The API's p95 of each round, with the reader and without.
struct ApiRound {
    read: f64,
    alone: f64,
}

async fn beside_each_other(load: &mut Load, sites: &mut [Site], rounds: u64) -> Vec<ApiRound> {
    load.run(TURN).await;
    let mut api = Vec::new();
    let next = Cell::new(0);
    for _ in 0..rounds {
        let mut alone = load.run(TURN).await;
        let begun = Instant::now();
        let reader = async {
            while begun.elapsed() < TURN {
                let number = next.replace(next.get() + 1);
                let (of_console, of_portal) = (sites[0].pages.len(), sites[1].pages.len());
                let number = number % (of_console + of_portal);
                let (site, page) = if number < of_console { (0, number) } else { (1, number - of_console) };
                let took = sites[site].ask(page).await;
                sites[site].pages[page].loaded.push(took);
                tokio::time::sleep(PAUSE).await;
            }
        };
        let (mut read, ()) = tokio::join!(load.run(TURN), reader);
        let [alone, read] = [&mut alone, &mut read].map(|times| p95(times));
        api.push(ApiRound { read, alone });
    }
    api
}

fn p95(times: &mut [f64]) -> f64 {
    times.sort_unstable_by(f64::total_cmp);
    percentile(times, 95)
}

fn told(database: &str, sites: &mut [Site], api: &[ApiRound]) {
    println!(
        "| {database}: page | alone ms, p50; p95 | beside the API under load | KiB |\n|---|---:|---:|---:|"
    );
    let (mut all, mut largest, mut slow) = (Vec::new(), 0, Vec::new());
    for site in sites {
        for Measured { page, bytes, alone, loaded } in &mut site.pages {
            all.extend_from_slice(loaded);
            largest = largest.max(*bytes);
            let (last, under) = (p95(alone), p95(loaded));
            if last > GOAL_MS || under > GOAL_MS {
                slow.push(format!("{} {}", site.name, page.name.trim()));
            }
            println!(
                "| {} {} | {:.1}; {last:.1} | {:.1}; {under:.1} | {:.1} |",
                site.name,
                page.name.trim(),
                percentile(alone, 50),
                percentile(loaded, 50),
                *bytes as f64 / 1024.0,
            );
        }
    }
    let all = p95(&mut all);
    let ratio = median(api.iter().map(|round| round.read / round.alone).collect());
    let [read, alone] = [|round: &ApiRound| round.read, |round: &ApiRound| round.alone]
        .map(|of| median(api.iter().map(of).collect()));
    println!();
    for (what, reached) in [
        (format!("all pages beside the API, p95: {all:.1} ms (at most {GOAL_MS})"), all <= GOAL_MS),
        (format!("largest page: {largest} bytes (at most {GOAL_BYTES})"), largest <= GOAL_BYTES),
        (
            format!(
                "the API's p95 with a reader : without: {ratio:.2} ({read:.1} / {alone:.1} ms; at most {GOAL_RATIO})"
            ),
            ratio <= GOAL_RATIO,
        ),
    ] {
        println!("{database}, {what} {}", if reached { "reached" } else { "MISSED" });
    }
}
