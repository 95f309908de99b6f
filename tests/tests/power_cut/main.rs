//! The power cut on SQLite: whatever was acknowledged is there after a cut behind any write (contract 8.1, 12 T1;
//! ARCHITECTURE, "Durability is not a setting").
//!
//! A library that is loaded before libc (`journal.c`) writes down what the service does to its files, in order: every
//! write, every flush. From that the files are made as a disk may have them when the power goes behind any of these
//! steps: what was flushed is there; of what was not, nothing, everything, or any of its sectors. On each of these the
//! doctor must find nothing, SQLite nothing either, and every checkout that was acknowledged before the cut must be
//! there with its event and its delivery. A disk that only says it has flushed must be found out, or this would prove
//! nothing.
//!
//! What is not tried: that the file system forgets names. The files' names are taken as durable.

#![allow(clippy::indexing_slicing, clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]

mod disk;

use std::path::{Path, PathBuf};
use std::process::Command;

use futures_util::future::join_all;
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions as _, Connection as _};
use tests::binary::binary;
use tests::{Answer, Authority, Merchant, Receiver, now_ms, text};

use disk::{Fate, Step, after_the_cut, read_journal};

/// Clients at a time, and what each of them writes.
const CLIENTS: usize = 8;
const WRITES: usize = 25;

/// A checkout that was acknowledged, and when, Unix milliseconds.
struct Acknowledged {
    checkout: String,
    at_ms: i64,
}

#[tokio::test]
async fn what_was_acknowledged_survives_a_cut_behind_any_write() {
    run(20_261_120, 24).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "takes minutes: cargo xtask prove power-cut"]
async fn proof() {
    let number = |name: &str| std::env::var(name).ok().map(|text| text.parse::<u64>().unwrap());
    let seed = number("POWER_CUT_SEED").unwrap_or_else(|| now_ms().unsigned_abs());
    let cuts = number("POWER_CUT_CUTS").unwrap_or(1_000);
    run(seed, usize::try_from(cuts).unwrap()).await;
}

async fn run(seed: u64, cuts: usize) {
    let folder = tempfile::tempdir().unwrap();
    let (mut authority, acknowledged, steps) = written_down(folder.path()).await;
    // Everything behind the merchant's own beginnings; before that nothing was acknowledged.
    let begin = steps.iter().position(|step| ms(step) >= acknowledged[0].at_ms).unwrap();
    let flushes = steps.iter().filter(|step| step.is_flush()).count();
    let mut dice = StdRng::seed_from_u64(seed);
    let (mut must_be_there, mut torn) = (0, 0);
    for cut in 0..cuts {
        let at = dice.random_range(begin..steps.len());
        let fate = [Fate::Gone, Fate::There, Fate::Torn][cut % 3];
        let image = Image::make(folder.path(), &steps[..=at], fate, false, &mut dice);
        let told = before(&acknowledged, &steps[at]);
        must_be_there += told.len();
        torn += usize::from(fate == Fate::Torn);
        authority.set("AUTHORITY_DATABASE_URL", &image.url());
        authority.is_sound().await;
        assert_eq!(
            image.missing(&told).await,
            Vec::<String>::new(),
            "seed {seed}, cut {cut} at {at}, {fate:?}"
        );
    }
    let mut found_out = 0;
    for _ in 0..cuts.min(20) {
        let at = dice.random_range(begin..steps.len());
        let image = Image::make(folder.path(), &steps[..=at], Fate::Torn, true, &mut dice);
        found_out += usize::from(!image.missing(&before(&acknowledged, &steps[at])).await.is_empty());
    }
    assert!(found_out > 0, "a disk that lies was not found out");
    let writes = acknowledged.len();
    println!(
        "| seed | {seed} |\n| steps on disk | {}, {flushes} of them flushes |\n| acknowledged writes | {writes} |\n\
         | power cuts | {cuts}, {torn} of them with torn writes |\n| acknowledged before their cut, together | \
         {must_be_there} |\n| lost | 0 |",
        steps.len()
    );
}

/// Clients write beside deliveries, and everything that reaches the files is written down; then the process is killed.
async fn written_down(folder: &Path) -> (Authority, Vec<Acknowledged>, Vec<Step>) {
    let (library, journal) = (folder.join("journal.so"), folder.join("journal"));
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/power_cut/journal.c");
    let compiled = Command::new("cc")
        .args(["-shared", "-fPIC", "-O2", "-o"])
        .arg(&library)
        .arg(source)
        .arg("-ldl")
        .status()
        .unwrap();
    assert!(compiled.success(), "journal.c");
    let variables = [
        ("LD_PRELOAD", library.to_str().unwrap()),
        ("POWER_CUT_JOURNAL", journal.to_str().unwrap()),
        ("AUTHORITY_LOG", "warn"),
    ];
    // It makes its database itself, so that this is written down too.
    let mut authority = Authority::built_as(binary(), &variables).await;
    let receiver =
        Receiver::start(|arrival| Answer::status(if arrival.number % 4 == 0 { 500 } else { 200 })).await;
    let merchant = Merchant::create(&authority, "cut").await;
    merchant.endpoint(&receiver.url("/hook"), &["*"]).await;
    let client = async |_: usize| {
        let mut acknowledged = Vec::new();
        for _ in 0..WRITES {
            let checkout = text(&merchant.checkout().await, "id");
            acknowledged.push(Acknowledged { checkout, at_ms: now_ms() });
        }
        acknowledged
    };
    let mut acknowledged: Vec<_> = join_all((0..CLIENTS).map(client)).await.into_iter().flatten().collect();
    acknowledged.sort_by_key(|acknowledged| acknowledged.at_ms);
    authority.nothing_pending().await;
    authority.kill().await;
    for variable in ["LD_PRELOAD", "POWER_CUT_JOURNAL"] {
        authority.unset(variable);
    }
    let steps = read_journal(&std::fs::read(journal).unwrap());
    assert!(steps.len() > acknowledged.len(), "what is done to the files is not written down");
    (authority, acknowledged, steps)
}

fn ms(step: &Step) -> i64 {
    i64::try_from(step.at_ns / 1_000_000).unwrap()
}

/// What was acknowledged for certain before this step was done.
fn before<'a>(acknowledged: &'a [Acknowledged], step: &Step) -> Vec<&'a Acknowledged> {
    acknowledged.iter().filter(|acknowledged| acknowledged.at_ms < ms(step)).collect()
}

/// The files after a cut, in a folder of their own.
struct Image {
    folder: tempfile::TempDir,
}

impl Image {
    fn make(beside: &Path, steps: &[Step], fate: Fate, lies: bool, dice: &mut StdRng) -> Self {
        let folder = tempfile::tempdir_in(beside).unwrap();
        for (file, bytes) in after_the_cut(steps, fate, lies, dice) {
            std::fs::write(folder.path().join(file), bytes).unwrap();
        }
        Self { folder }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("authority.db")
    }

    fn url(&self) -> String {
        format!("sqlite://{}", self.path().display())
    }

    /// Which of these checkouts are not there with their event and its delivery; or what SQLite says of the files.
    async fn missing(&self, acknowledged: &[&Acknowledged]) -> Vec<String> {
        let told = "SELECT resource_id FROM events JOIN deliveries ON deliveries.event_id = events.id \
                    JOIN checkouts ON checkouts.id = events.resource_id WHERE type = 'checkout.created'";
        let read = async {
            let mut conn = SqliteConnectOptions::new().filename(self.path()).connect().await?;
            let sound: String = sqlx::query_scalar("PRAGMA integrity_check").fetch_one(&mut conn).await?;
            let there: Vec<String> = sqlx::query_scalar(told).fetch_all(&mut conn).await?;
            conn.close().await?;
            Ok::<_, sqlx::Error>((sound, there))
        };
        let there = match read.await {
            Ok((sound, there)) if sound == "ok" => there,
            Ok((damaged, _)) => return vec![damaged],
            Err(error) => return vec![error.to_string()],
        };
        let checkouts = acknowledged.iter().map(|acknowledged| acknowledged.checkout.clone());
        checkouts.filter(|checkout| !there.contains(checkout)).collect()
    }
}
