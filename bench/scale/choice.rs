//! What the command line asks for: `quick against=PATH trips instances rounds=3 seconds=2 explain`.
//!
//! A part that is named leaves the others out; `quick` leaves out those that take long.

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use tests::binary;

use crate::load::Window;
use crate::stand::Build;

/// A part of the whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// Round trips per transaction.
    Trips,
    /// Paid orders on one instance.
    Paid,
    /// Four instances beside one, the same clients for each.
    Instances,
    /// Four instances beside one, the same clients in all.
    Few,
    /// Merchants and keys are made beside the load.
    Rare,
    /// The platform's own endpoint.
    Sink,
    /// A database on the same machine.
    Near,
    /// Orders shared with a partner.
    Share,
    /// What one node carries.
    Node,
    /// An instance is stopped.
    Stopped,
    /// Everything with everything.
    Grid,
}

impl Part {
    /// In the order in which they run. Those that `quick` leaves out are the last three.
    const ALL: [(&'static str, Self); 11] = [
        ("trips", Self::Trips),
        ("paid", Self::Paid),
        ("instances", Self::Instances),
        ("few", Self::Few),
        ("rare", Self::Rare),
        ("sink", Self::Sink),
        ("near", Self::Near),
        ("share", Self::Share),
        ("node", Self::Node),
        ("stopped", Self::Stopped),
        ("grid", Self::Grid),
    ];
    const QUICK: usize = 8;
}

/// What is measured.
#[derive(Clone, Debug)]
pub(crate) struct Choice {
    pub(crate) builds: Vec<Build>,
    pub(crate) parts: Vec<Part>,
    /// Figures are medians over so many rounds.
    pub(crate) rounds: usize,
    pub(crate) window: Window,
    /// Also tells what transactions did.
    pub(crate) explain: bool,
    /// Of the grid.
    pub(crate) instances: Vec<usize>,
    /// Of the grid; besides, 64 for each instance.
    pub(crate) clients: Vec<usize>,
    /// Of the grid, in ms.
    pub(crate) round_trips: Vec<f64>,
}

impl Choice {
    pub(crate) fn read(words: &[String]) -> Self {
        let mut choice = Self {
            builds: Vec::new(),
            parts: Vec::new(),
            rounds: 3,
            window: Window { warm_up: Duration::from_secs(1), time: Duration::from_secs(3) },
            explain: false,
            instances: vec![1, 2, 4],
            clients: vec![1, 16, 64, 128],
            round_trips: vec![0.0, 1.0, 2.0, 4.0],
        };
        let mut quick = false;
        let mut against = None;
        for word in words {
            match word.split_once('=') {
                Some(("against", path)) => against = Some(PathBuf::from(path)),
                None if word == "quick" => quick = true,
                _ => choice.take(word),
            }
        }
        let all = if quick { Part::QUICK } else { Part::ALL.len() };
        if choice.parts.is_empty() {
            choice.parts = Part::ALL.into_iter().take(all).map(|(_, part)| part).collect();
        }
        let this = Build { name: "this", binary: binary::binary().to_owned() };
        let against = against.map(|path| Build { name: "against", binary: absolute(&path) });
        choice.builds = std::iter::once(this).chain(against).collect();
        choice
    }

    fn take(&mut self, word: &str) {
        match word.split_once('=') {
            Some(("rounds", count)) => self.rounds = number(count),
            Some(("seconds", seconds)) => self.window.time = Duration::from_secs_f64(number(seconds)),
            Some(("instances", list)) => self.instances = numbers(list),
            Some(("clients", list)) => self.clients = numbers(list),
            Some(("ms", list)) => self.round_trips = numbers(list),
            None if word == "explain" => self.explain = true,
            _ => {
                let part = Part::ALL.into_iter().find(|(name, _)| *name == word);
                self.parts.push(part.unwrap_or_else(|| panic!("{word} says nothing: {USAGE}")).1);
            }
        }
    }
}

const USAGE: &str = "[quick] [against=PATH] [trips] [paid] [instances] [few] [rare] [sink] [near] [share] [node] [stopped] \
     [grid] [instances=1,2,4] [clients=1,16,64,128] [ms=0,1,2,4] [rounds=3] [seconds=3] [explain]";

/// The authority runs in a folder of its own.
fn absolute(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn numbers<T: FromStr>(list: &str) -> Vec<T> {
    list.split(',').map(number).collect()
}

fn number<T: FromStr>(text: &str) -> T {
    text.parse().unwrap_or_else(|_| panic!("{text} is no number: {USAGE}"))
}
