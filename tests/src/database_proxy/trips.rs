//! Round trips of transactions, counted.

use std::collections::BTreeMap;

/// The round trips of the transactions that ran a statement that writes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trips {
    /// How many transactions took so many round trips.
    pub histogram: BTreeMap<u32, u64>,
    /// The same by the tables that they wrote.
    pub kinds: BTreeMap<String, Kind>,
    /// What the longest did, round trip by round trip.
    pub longest: Vec<String>,
    /// Round trips of everything else: what readers ask, and transactions that wrote nothing.
    pub others: u64,
}

/// Transactions of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Kind {
    /// How many.
    pub transactions: u64,
    /// Round trips of all of them.
    pub trips: u64,
    /// Round trips of the longest.
    pub most: u32,
}

impl Trips {
    /// How many transactions wrote.
    #[must_use]
    pub fn transactions(&self) -> u64 {
        self.histogram.values().sum()
    }

    /// The most round trips of one; 0 when there was none.
    #[must_use]
    pub fn most(&self) -> u32 {
        self.histogram.last_key_value().map_or(0, |(trips, _)| *trips)
    }

    /// Round trips of one, on average. Not a number when there was none.
    #[must_use]
    pub fn mean(&self) -> f64 {
        let trips: u64 = self.histogram.iter().map(|(trips, count)| u64::from(*trips) * count).sum();
        trips as f64 / self.transactions() as f64
    }

    /// Adds what another proxy counted.
    pub fn add(&mut self, other: Self) {
        if other.most() > self.most() {
            self.longest = other.longest;
        }
        for (trips, count) in other.histogram {
            *self.histogram.entry(trips).or_default() += count;
        }
        for (tables, kind) in other.kinds {
            let all = self.kinds.entry(tables).or_default();
            all.transactions += kind.transactions;
            all.trips += kind.trips;
            all.most = all.most.max(kind.most);
        }
        self.others += other.others;
    }

    /// Counts a transaction that wrote these tables. `steps` tells what it did.
    pub(super) fn count(&mut self, trips: u32, tables: String, steps: impl FnOnce() -> Vec<String>) {
        if trips > self.most() {
            self.longest = steps();
        }
        *self.histogram.entry(trips).or_default() += 1;
        let kind = self.kinds.entry(tables).or_default();
        kind.transactions += 1;
        kind.trips += u64::from(trips);
        kind.most = kind.most.max(trips);
    }
}
