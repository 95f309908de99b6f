//! What one side did in one turn, and what many turns make of it.

use std::time::Duration;

use bench_kit::figures::{Percentiles, of};
use bench_kit::process::{Processes, own_time};

use crate::journal::{Journal, Waits};
use crate::load::Asked;

/// After the last arrival: its outcome is still to be written.
const SETTLING: Duration = Duration::from_millis(50);

/// What one side did in one turn.
#[derive(Clone, Debug)]
pub(crate) struct Turn {
    /// Requests answered per second.
    pub(crate) accepted: f64,
    /// Deliveries that arrived per second, from the first request to the last arrival.
    pub(crate) delivered: f64,
    /// Of what was accepted while there were requests, the part that had arrived when the last was answered.
    pub(crate) kept_up: f64,
    /// In ms.
    pub(crate) from_due: Percentiles,
    pub(crate) from_answer: Percentiles,
    /// Processor time per delivery in µs: the side's, its database server's, and that of the load and the receivers.
    pub(crate) cpu_us: f64,
    pub(crate) database_cpu_us: f64,
    pub(crate) load_cpu_us: f64,
    /// Written towards the disk per delivery.
    pub(crate) written_kib: f64,
}

/// Lets `ask` ask, waits until everything has arrived at `fanout` endpoints, and tells what it took.
pub(crate) async fn turn_of(
    processes: Processes,
    journal: &Journal,
    fanout: usize,
    ask: impl AsyncFnOnce() -> Asked,
) -> Turn {
    let (before, load_before) = (processes.taken(), own_time(std::process::id()));
    let asked = ask().await;
    let arrived = journal.arrived_by_now();
    let deliveries = asked.requests * fanout;
    let Waits { from_due, from_answer, last } = journal.take(deliveries).await;
    tokio::time::sleep(SETTLING).await;
    let taken = processes.taken() - before;
    let load = own_time(std::process::id()).saturating_sub(load_before);
    let each = |time: Duration| time.as_secs_f64() * 1e6 / deliveries as f64;
    Turn {
        accepted: asked.requests as f64 / (asked.ended - asked.begun).as_secs_f64(),
        delivered: deliveries as f64 / (last - asked.begun).as_secs_f64(),
        kept_up: arrived as f64 / deliveries as f64,
        from_due: Percentiles::of(from_due),
        from_answer: Percentiles::of(from_answer),
        cpu_us: each(taken.asked),
        database_cpu_us: each(taken.database),
        load_cpu_us: each(load),
        written_kib: taken.written_bytes as f64 / 1024.0 / deliveries as f64,
    }
}

/// What so many of 100 deliveries waited at most, for 50, 95 and 99: medians over the turns.
pub(crate) fn waits(turns: &[Turn], which: impl Fn(&Turn) -> Percentiles) -> String {
    let p = |share: fn(&Percentiles) -> f64| of(turns, |turn| share(&which(turn)));
    format!("{:.2} {:.2} {:.2}", p(|p| p.p50), p(|p| p.p95), p(|p| p.p99))
}
