//! `GET /metrics` (contract 15.11): without a key, only on the operator's listener, in the OpenMetrics text format
//! that Prometheus and similar tools read.
//!
//! Counters of this process come from memory, what the process uses from the operating system; the backlog and the
//! health of endpoints come from the database, read at most every few seconds. While the database does not answer,
//! `authority_database_up` is 0 and its figures are missing.

use authority_domain::endpoint::HealthState;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::header::CONTENT_TYPE;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

use super::process_metrics::{register_build, register_process};
use crate::app::App;
use crate::app::figures::Figures;
use crate::http::operation::plain;
use crate::http::{AppState, Operation, Routes};

const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ByState {
    state: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ByPool {
    pool: &'static str,
    state: &'static str,
}

const METRICS: Operation = Operation::get("/metrics", "metrics")
    .summary("Read the service's metrics, for Prometheus.")
    .answers(&[plain(OPEN_METRICS, "The metrics, in the OpenMetrics text format.")]);

/// The route.
pub(super) fn routes() -> Routes {
    Routes::new().add(&METRICS, metrics)
}

async fn metrics(State(state): State<AppState>) -> Response {
    let mut registry = Registry::with_prefix("authority");
    let figures = state.figures.get(&state.app).await;
    register_build(&mut registry);
    register_service(&mut registry, &state.app);
    register_database(&mut registry, figures.as_ref());
    let mut process = Registry::default();
    register_process(&mut process);
    // Writing to memory does not fail.
    let text = state.metrics.write(&[&registry, &process]).unwrap_or_default();
    ([(CONTENT_TYPE, OPEN_METRICS)], text).into_response()
}

fn register_service(registry: &mut Registry, app: &App) {
    let events = Counter::<u64>::default();
    events.inc_by(app.events_committed());
    registry.register("events_committed", "Events that this process has committed", events);
    let connections = Family::<ByPool, Gauge>::default();
    for readers in app.readers() {
        let set = |state, count| {
            connections.get_or_create(&ByPool { pool: readers.name, state }).set(count);
        };
        set("idle", readers.idle);
        set("busy", readers.open - readers.idle);
        set("limit", readers.limit);
    }
    let writes = Gauge::<i64>::default();
    writes.set(i64::try_from(app.writes_unanswered()).unwrap_or(i64::MAX));
    registry.register("writes_unanswered", "Writes that wait or are in the open transaction", writes);
    registry.register("database_connections", "Connections that read, by pool and state", connections);
}

fn register_database(registry: &mut Registry, figures: Option<&Figures>) {
    let up = Gauge::<i64>::default();
    up.set(figures.is_some().into());
    registry.register("database_up", "1 while the database answers", up);
    let Some(Figures { queue, oldest_due_ms, endpoints }) = figures else { return };
    let deliveries = Family::<ByState, Gauge>::default();
    let scheduled = queue.pending - queue.due;
    for (state, count) in [("due", queue.due), ("scheduled", scheduled), ("leased", queue.leased)] {
        deliveries.get_or_create(&ByState { state: state.to_owned() }).set(count);
    }
    let help = "Deliveries that have not ended: due (those in flight among them), scheduled for later; leased is in flight";
    registry.register("deliveries_pending", help, deliveries);
    let age = Gauge::<f64, std::sync::atomic::AtomicU64>::default();
    age.set(*oldest_due_ms as f64 / 1000.0);
    registry.register(
        "oldest_due_delivery_age_seconds",
        "How long the oldest due delivery has been due",
        age,
    );
    let states = Family::<ByState, Gauge>::default();
    // A series is there before its first endpoint, so that monitoring sees the step from 0 to 1.
    for state in HealthState::ALL.iter().map(|state| state.as_str()).chain(["disabled"]) {
        states.get_or_create(&ByState { state: state.to_owned() }).set(0);
    }
    for (state, count) in endpoints {
        states.get_or_create(&ByState { state: state.clone() }).set(*count);
    }
    registry.register("endpoints", "Webhook endpoints by health, and those that are disabled", states);
}
