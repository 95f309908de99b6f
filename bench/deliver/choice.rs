//! What the command line asks for: `sqlite grid clients=16,64 fanout=1 delay=0 rounds=5 seconds=1`.
//!
//! A database or a part that is named leaves the others out; what is not said is as in the whole run.

use std::str::FromStr;
use std::time::Duration;

use bench_kit::database::Kind;

/// A part of the whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Grid,
    Rates,
    Waiting,
    /// One merchant with one endpoint.
    One,
    /// Receivers that can take only so much.
    Limits,
    /// A receiver that was away.
    Recovery,
    /// Takes long: only when it is named.
    Soak,
}

impl Part {
    /// In the order in which they run.
    const ALL: [(&'static str, Self); 7] = [
        ("grid", Self::Grid),
        ("rates", Self::Rates),
        ("waiting", Self::Waiting),
        ("one", Self::One),
        ("limits", Self::Limits),
        ("recovery", Self::Recovery),
        ("soak", Self::Soak),
    ];
}

/// What is measured.
#[derive(Clone, Debug)]
pub(crate) struct Choice {
    pub(crate) databases: Vec<Kind>,
    pub(crate) parts: Vec<Part>,
    pub(crate) clients: Vec<usize>,
    pub(crate) fanouts: Vec<usize>,
    /// How long a receiver takes to answer, in ms.
    pub(crate) delays: Vec<u64>,
    /// Figures are medians over so many rounds.
    pub(crate) rounds: usize,
    /// How long one side is asked in one round.
    pub(crate) turn: Duration,
    /// Deliveries that wait for the dead endpoint.
    pub(crate) waiting: u32,
    /// Events that were made while the receiver was away: two hours of 50 per second.
    pub(crate) missed: usize,
    /// Of the receivers with a limit, those whose name contains this.
    pub(crate) receiver: String,
    /// How long the soak lasts.
    pub(crate) minutes: usize,
}

impl Choice {
    pub(crate) fn read(words: &[String]) -> Self {
        let mut choice = Self {
            databases: Vec::new(),
            parts: Vec::new(),
            clients: vec![1, 16, 64, 128],
            fanouts: vec![1, 5],
            delays: vec![0, 100],
            rounds: 3,
            turn: Duration::from_millis(1_500),
            waiting: 1_000_000,
            missed: 360_000,
            receiver: String::new(),
            minutes: 30,
        };
        for word in words {
            choice.take(word);
        }
        if choice.databases.is_empty() {
            choice.databases = Kind::ALL.to_vec();
        }
        let usual = choice.parts.is_empty();
        let is_chosen = |part: &Part| if usual { *part != Part::Soak } else { choice.parts.contains(part) };
        choice.parts = Part::ALL.into_iter().map(|(_, part)| part).filter(is_chosen).collect();
        choice
    }

    fn take(&mut self, word: &str) {
        let part = Part::ALL.iter().find(|(name, _)| *name == word);
        match word.split_once('=') {
            Some(("clients", list)) => self.clients = numbers(list),
            Some(("fanout", list)) => self.fanouts = numbers(list),
            Some(("delay", list)) => self.delays = numbers(list),
            Some(("waiting", count)) => self.waiting = number(count),
            Some(("missed", count)) => self.missed = number(count),
            Some(("receiver", text)) => text.clone_into(&mut self.receiver),
            Some(("minutes", count)) => self.minutes = number(count),
            Some(("rounds", count)) => self.rounds = number(count),
            Some(("seconds", seconds)) => self.turn = Duration::from_secs_f64(number(seconds)),
            None if part.is_some() => self.parts.extend(part.map(|(_, part)| part)),
            _ => {
                let kind = Kind::ALL.into_iter().find(|kind| kind.name() == word);
                self.databases.push(kind.unwrap_or_else(|| panic!("{word} says nothing: {USAGE}")));
            }
        }
    }
}

const USAGE: &str = "[sqlite] [postgres] [grid] [rates] [waiting] [one] [limits] [recovery] [clients=1,16,64,128] [fanout=1,5] [delay=0,100] \
     [waiting=1000000] [rounds=3] [seconds=1.5] [missed=360000] [receiver=falls] [soak] [minutes=30]";

fn numbers<T: FromStr>(list: &str) -> Vec<T> {
    list.split(',').map(number).collect()
}

fn number<T: FromStr>(text: &str) -> T {
    text.parse().unwrap_or_else(|_| panic!("{text} is no number: {USAGE}"))
}
