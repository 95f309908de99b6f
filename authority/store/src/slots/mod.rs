//! What one instance may send at a time, and to whom (contract 7.4, 15.4, 18.4).
//!
//! A delivery that this instance is to send has a [`Slot`], from the time its row is leased inside a transaction
//! until its outcome is written. First it is queued in the dispatcher, then its request is in flight, then it is
//! unsettled. A job that is undone and a commit that fails give their slots back by dropping them.
//!
//! Three numbers bound an endpoint (`endpoint`): requests in flight, by its adaptive limit and by what other
//! instances leave of its `max_in_flight`; queued deliveries, which let the next request begin when an answer has
//! come and not only when its outcome is committed; and unsettled outcomes.
//!
//! Two pools bound the instance (`pools`). An attempt counts against the quick one until it has taken [`SLOW_AFTER`],
//! and from then on against the slow one, which is larger. Attempts to an endpoint that was slow lately begin in the
//! slow pool. So do those to an unknown endpoint, except for one request, which is quick if the quick pool has
//! capacity. So slow receivers hold no quick capacity, however many they are. Capacity of the slow pool is reserved
//! when a delivery is leased. Quick deliveries wait in the queue, where merchants take turns. One merchant has at
//! most its share of each pool.
//!
//! The slots also record what was left behind: endpoints with due deliveries that nobody holds for lack of capacity.
//! Whoever frees capacity looks there, and nowhere else. This record is a hint like any other: the poll finds what it
//! missed.

mod endpoint;
mod pools;
mod slot;
mod state;
mod want;

pub use self::pools::{Blocked, Capacity};
pub use self::slot::{AttemptEnd, Moment, Slot};
pub use self::state::{SLOW_AFTER, Slots};
pub(crate) use self::want::whole;
pub use self::want::{Bounds, Free, Want};
