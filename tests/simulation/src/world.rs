//! The world of a simulation, and how its time goes on.
//!
//! The clock jumps to the next moment at which something can happen: an answer arrives, somebody does something, a
//! delivery is due, a lease ends, an instance comes back. At each of them everybody does what there is to do, one
//! cause after the other, until nobody has anything left; then the judge compares what happened and what is stored
//! with what it believes.
//!
//! At the end all receivers are well, all instances run, nobody does anything more, and the world goes on until nothing
//! waits.

use std::collections::BTreeMap;
use std::sync::Arc;

use authority::app::App;
use authority::app::access::Caller;
use authority_store::StoreError;
use authority_store::tx::Tx;
use rand::RngExt as _;
use rand::rngs::StdRng;

use crate::instances::{Instance, SHARE, SLOTS};
use crate::journal::{Journal, Violation, hold};
use crate::limits::{Calls, Limits};
use crate::model::Model;
use crate::model::delivery::Status;
use crate::network::Network;
use crate::rows::Rows;
use crate::time::Time;
use crate::{Settings, Tally};

/// How often due deliveries are looked for, at the latest (contract 12 T5).
pub(crate) const POLL_MS: i64 = 1_000;

/// How often housekeeping comes by, and a little more.
pub(crate) const ROUND_MS: i64 = 61_000;

/// The longest that anything may wait when all is well again: the schedule, and a receiver that asked for a day at
/// each step.
const UNTIL_ALL_HAS_ENDED_MS: i64 = 20 * 86_400_000;

/// Moments between two looks at everything.
const LOOKS_EVERY: u64 = 64;

/// A place for a dispatcher.
#[derive(Debug, Default)]
pub(crate) struct DispatcherSlot {
    pub(crate) instance: Option<Instance>,
    /// When the next one starts here, in elapsed time.
    pub(crate) comes_back: Option<i64>,
}

/// Everything there is.
pub(crate) struct World {
    pub(crate) settings: Settings,
    pub(crate) app: App,
    pub(crate) callers: Vec<Caller>,
    pub(crate) time: Arc<Time>,
    pub(crate) network: Arc<Network>,
    pub(crate) places: Vec<DispatcherSlot>,
    /// The instance that was started last: the one on this store that takes new work.
    pub(crate) newest: Option<usize>,
    pub(crate) rows: Rows,
    pub(crate) model: Model,
    pub(crate) calls: Calls,
    pub(crate) limits: Limits,
    pub(crate) journal: Journal,
    pub(crate) dice: StdRng,
    pub(crate) tally: Tally,
    /// Names things that must be different from all others.
    pub(crate) names: u64,
    /// Endpoints that nobody changes, but for enabling them.
    pub(crate) left_alone: Vec<String>,
    /// When somebody does something next; `None` at the end.
    pub(crate) next_operation: Option<i64>,
}

impl World {
    /// Lives through all of it.
    pub(crate) async fn live(&mut self) -> Result<(), Violation> {
        let over = self.settings.days * 86_400_000;
        self.come_to_rest().await?;
        while self.time.elapsed() < over {
            self.moment(over).await?;
        }
        self.note(format_args!("all is well from now on"));
        self.next_operation = None;
        self.network.heal();
        for place in &mut self.places {
            if place.instance.is_none() {
                place.comes_back = Some(over);
            }
        }
        while self.model.deliveries.values().any(|delivery| delivery.status == Status::Pending) {
            let late = self.time.elapsed() - over;
            hold!(late < UNTIL_ALL_HAS_ENDED_MS, "deliveries still wait long after all is well again");
            self.moment(i64::MAX).await?;
        }
        self.look_at_everything().await?;
        self.compare_counts().await
    }

    /// Goes on to the next moment and lives through it.
    async fn moment(&mut self, over: i64) -> Result<(), Violation> {
        let now = self.time.elapsed();
        let next = self.next_moment().unwrap_or(now + 3_600_000).min(over).max(now + 1);
        self.time.pass(next - now).await;
        self.tally.moments += 1;
        self.come_to_rest().await?;
        if self.network.next_answer().is_some_and(|at| at <= next) {
            self.network.answer();
            self.come_to_rest().await?;
        }
        if self.start_instances() {
            self.come_to_rest().await?;
        }
        if self.next_operation.is_some_and(|at| at <= next) {
            self.operate().await?;
            self.come_to_rest().await?;
            // Those that have just died are to come back.
            self.start_instances();
            self.next_operation = Some(next + self.pause());
        }
        if self.tally.moments.is_multiple_of(LOOKS_EVERY) {
            self.look_at_everything().await?;
        }
        Ok(())
    }

    /// Sometimes much happens at once, and sometimes nothing for hours.
    fn pause(&mut self) -> i64 {
        match self.dice.random_range(0..10) {
            0..4 => self.dice.random_range(1..3_000),
            4..7 => self.dice.random_range(3_000..300_000),
            7..9 => self.dice.random_range(300_000..7_200_000),
            _ => self.dice.random_range(7_200_000..43_200_000),
        }
    }

    /// Waits until nobody has anything left to do, and judges what was done.
    async fn come_to_rest(&mut self) -> Result<(), Violation> {
        self.rest().await;
        self.judge().await
    }

    /// Waits until nobody has anything left to do. When no task can go on by itself and no write is under way,
    /// everybody waits for the time or for the network.
    pub(crate) async fn rest(&self) {
        loop {
            // Comes back when no other task can go on.
            tokio::task::yield_now().await;
            if self.app.store.writes_unanswered() == 0 {
                return;
            }
            // The writer takes jobs one after the other: what is under way is done when this empty one is.
            let empty: Result<(), StoreError> =
                self.app.store.write(|_: &mut Tx| Box::pin(async { Ok(()) })).await;
            empty.expect("the database can be written");
        }
    }

    /// When something can happen next.
    fn next_moment(&self) -> Option<i64> {
        let now = self.time.elapsed();
        let wall = self.time.wall();
        let free: Vec<bool> =
            (0..self.model.shops.len()).map(|merchant| self.somebody_has_room_for(merchant)).collect();
        let mut next = vec![self.next_operation, self.network.next_answer()];
        next.extend(self.places.iter().map(|place| place.comes_back));
        let mut due: BTreeMap<&str, i64> = BTreeMap::new();
        for delivery in self.model.deliveries.values() {
            if delivery.status != Status::Pending {
                continue;
            }
            match delivery.lease {
                Some(lease) if lease.until >= wall => next.push(Some(self.time.elapsed_at(lease.until + 1))),
                _ => {
                    let first = due.entry(&delivery.endpoint).or_insert(delivery.due);
                    *first = delivery.due.min(*first);
                }
            }
        }
        for (id, endpoint) in &self.model.endpoints {
            if let Some(at) = endpoint.disabled_from() {
                next.push(Some(self.time.elapsed_at(at) + ROUND_MS).filter(|at| *at > now));
            }
            let Some(due) = due.get(id.as_str()) else { continue };
            if !endpoint.enabled() {
                // Housekeeping puts it away.
                next.push(Some(now + ROUND_MS));
                continue;
            }
            let from = self.time.elapsed_at(endpoint.hold.until.map_or(*due, |until| until.max(*due)));
            if from > now {
                next.push(Some(from));
            } else if free[endpoint.merchant] && self.model.in_flight(id, wall) < endpoint.cap(wall).0 {
                next.push(Some(now + POLL_MS));
            }
        }
        next.into_iter().flatten().min()
    }

    /// Whether the instance that takes new work could send something of this merchant: one merchant has at most a
    /// quarter of its slots, and at least what one endpoint may have.
    pub(crate) fn somebody_has_room_for(&self, merchant: usize) -> bool {
        let Some(number) = self.newest else { return false };
        let takes_more = self.places[number].instance.as_ref().is_some_and(|it| it.lives() && !it.stopping);
        let mut all = 0;
        let mut its = 0;
        for call in self.calls.values().filter(|call| call.place == number) {
            all += 1;
            let endpoint = self.model.endpoints.get(&call.endpoint);
            its += usize::from(endpoint.is_some_and(|endpoint| endpoint.merchant == merchant));
        }
        takes_more && all < SLOTS && its < SHARE
    }

    /// Starts what is to come back by now.
    fn start_instances(&mut self) -> bool {
        let now = self.time.elapsed();
        let mut started = false;
        for number in 0..self.places.len() {
            let gone = self.places[number].instance.as_ref().is_some_and(|instance| !instance.lives());
            if gone {
                self.places[number].instance = None;
                let back = now + self.dice.random_range(1..300_000);
                self.places[number].comes_back.get_or_insert(back);
                self.note(format_args!("instance {number} is gone, to come back in {} ms", back - now));
            }
            if self.places[number].instance.is_none()
                && self.places[number].comes_back.is_some_and(|at| at <= now)
            {
                self.start_instance(number);
                started = true;
            }
        }
        started
    }

    /// Starts a dispatcher.
    pub(crate) fn start_instance(&mut self, number: usize) {
        self.names += 1;
        let named = (self.settings.seed, self.names);
        let planted = self.settings.planted;
        let instance = Instance::start(&self.app, &self.time, &self.network, number, named, planted);
        self.places[number] = DispatcherSlot { instance: Some(instance), comes_back: None };
        self.newest = Some(number);
        self.note(format_args!("instance {number} starts"));
    }

    /// Writes into the journal.
    pub(crate) fn note(&mut self, what: std::fmt::Arguments<'_>) {
        self.journal.note(self.time.elapsed(), what);
    }
}
