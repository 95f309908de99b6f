//! The load: clients that each have one request in flight, and what was seen in a window while all of them were busy.

use std::time::{Duration, Instant};

use bench_kit::figures::Percentiles;
use futures_util::future::join_all;
use tests::database_proxy::Trips;

use crate::MERCHANTS;
use crate::stand::Stand;
use crate::work::{Stock, Undone, Work};

/// How long a side is asked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window {
    /// Before it is looked at.
    pub(crate) warm_up: Duration,
    pub(crate) time: Duration,
}

impl Window {
    /// For what takes three requests, which may take seconds.
    pub(crate) fn of(self, work: Work) -> Self {
        match work {
            Work::PaidOrder => Self { warm_up: self.warm_up * 2, time: self.time * 3 },
            _ => self,
        }
    }
}

/// What was seen in the window.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    /// Per second.
    pub(crate) accepted: f64,
    /// Units that ended with 503, in parts of all.
    pub(crate) refused: f64,
    /// How long those that were not refused took, in ms.
    pub(crate) took: Percentiles,
    /// Per second.
    pub(crate) delivered: f64,
    /// Processor seconds of the service per 1,000 accepted.
    pub(crate) service_s: f64,
    /// The same of the database server.
    pub(crate) database_s: f64,
    /// Cores that the service kept busy.
    pub(crate) cores: f64,
    /// Where a proxy counts.
    pub(crate) trips: Option<Trips>,
}

/// One unit of work.
struct Unit {
    ended: Instant,
    took: Duration,
    refused: bool,
}

/// Lets so many clients of `stand` do `work` again and again.
pub(crate) async fn drive(stand: &Stand, stock: &Stock, work: Work, clients: usize, window: Window) -> Seen {
    let mut clients = stand.clients(clients).await;
    let begin = Instant::now() + window.warm_up;
    let end = begin + window.time;
    let working = clients.iter_mut().enumerate().map(async |(number, client)| {
        let mut units = Vec::new();
        while Instant::now() < end {
            let begun = Instant::now();
            let done = stock.once(work, client, number % MERCHANTS).await;
            if done == Err(Undone::NothingLeft) {
                break;
            }
            units.push(Unit { ended: Instant::now(), took: begun.elapsed(), refused: done.is_err() });
        }
        units
    });
    let looking = async {
        tokio::time::sleep_until(begin.into()).await;
        let _ = stand.take_trips();
        let (arrived, taken) = (stand.receivers.arrived(), stand.taken());
        tokio::time::sleep_until(end.into()).await;
        let seconds = begin.elapsed().as_secs_f64();
        let delivered = (stand.receivers.arrived() - arrived) as f64 / seconds;
        let now = stand.taken();
        let service = (now.service - taken.service).as_secs_f64();
        let database = (now.database - taken.database).as_secs_f64();
        (seconds, delivered, service, database, stand.take_trips())
    };
    let (units, (seconds, delivered, service, database, trips)) = tokio::join!(join_all(working), looking);
    let inside = units.into_iter().flatten().filter(|unit| unit.ended >= begin && unit.ended < end);
    let (refused, done): (Vec<Unit>, Vec<Unit>) = inside.partition(|unit| unit.refused);
    let count = done.len() as f64;
    Seen {
        accepted: count / seconds,
        refused: refused.len() as f64 / (count + refused.len() as f64),
        took: Percentiles::of(done.iter().map(|unit| unit.took.as_secs_f64() * 1e3).collect()),
        delivered,
        service_s: service / count * 1e3,
        database_s: database / count * 1e3,
        cores: service / seconds,
        trips,
    }
}
