//! The load: connections that each have one request in flight, and the time every unit of work took.

use std::time::{Duration, Instant};

use bench_kit::connection::Connection;
use bench_kit::figures::Percentiles;
use bench_kit::process::Processes;
use futures_util::future::join_all;

/// What one side did in its turn.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Measured {
    /// Units of work.
    pub(crate) per_second: f64,
    pub(crate) p50_ms: f64,
    pub(crate) p99_ms: f64,
    /// Processor time of the process that was asked, per unit.
    pub(crate) cpu_us: f64,
    /// The same of the database server, where there is one.
    pub(crate) database_cpu_us: f64,
}

/// Lets every connection do `unit` again and again for `time`. `unit` gets the number of its connection.
pub(crate) async fn drive(
    connections: &mut [Connection],
    time: Duration,
    processes: &Processes,
    unit: impl AsyncFn(&mut Connection, usize),
) -> Measured {
    let before = processes.taken();
    let started = Instant::now();
    let clients = connections.iter_mut().enumerate().map(async |(number, connection)| {
        let mut took = Vec::new();
        while started.elapsed() < time {
            let begun = Instant::now();
            unit(connection, number).await;
            took.push(begun.elapsed().as_secs_f64() * 1e3);
        }
        took
    });
    let took: Vec<f64> = join_all(clients).await.into_iter().flatten().collect();
    let elapsed = started.elapsed();
    let spent = processes.taken() - before;
    assert!(!took.is_empty(), "nothing was done in that time");
    let units = took.len() as f64;
    let Percentiles { p50, p99, .. } = Percentiles::of(took);
    Measured {
        per_second: units / elapsed.as_secs_f64(),
        p50_ms: p50,
        p99_ms: p99,
        cpu_us: spent.asked.as_secs_f64() * 1e6 / units,
        database_cpu_us: spent.database.as_secs_f64() * 1e6 / units,
    }
}
