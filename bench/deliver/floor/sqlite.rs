//! The floor's statements on SQLite.
//!
//! The driver hands every text to a thread of its own, so a transaction is one text, or two when it holds outcomes as
//! well. A text says how many rows it has; each is prepared once and kept.

use std::collections::HashMap;
use std::sync::Arc;

use bench_kit::database::sqlite_options;
use sqlx::sqlite::{SqliteArguments, SqliteConnection};
use sqlx::{AssertSqlSafe, ConnectOptions as _};

use super::database::{KEY, LEASE_MS, OPEN_MS, endpoints_of, streams_of};
use super::sender::Outcome;
use super::writer::Made;

/// More than there are numbers of rows.
const STATEMENTS_KEPT: usize = 2_000;

pub(super) struct Sqlite {
    connection: SqliteConnection,
    texts: HashMap<Shape, Arc<str>>,
}

/// What a text depends on: numbers of rows, and whether it begins and ends the transaction.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Shape {
    Made { streams: usize, events: usize, deliveries: usize, alone: bool },
    Settled { outcomes: usize, endpoints: usize, alone: bool },
}

type Query<'q> = sqlx::query::Query<'q, sqlx::Sqlite, SqliteArguments>;

impl Sqlite {
    pub(super) async fn open(path: &str) -> Self {
        let options = sqlite_options(path)
            .statement_cache_capacity(STATEMENTS_KEPT)
            .pragma("cache_size", "-65536")
            .pragma("temp_store", "memory");
        Self { connection: options.connect().await.unwrap(), texts: HashMap::new() }
    }

    pub(super) async fn first(&mut self) -> (String, String, i64) {
        sqlx::query_as(super::database::FIRST).fetch_one(&mut self.connection).await.unwrap()
    }

    pub(super) async fn write(&mut self, made: &[Made], lease: &Arc<str>, outcomes: &[Outcome]) {
        if !made.is_empty() {
            self.make(made, lease, outcomes.is_empty()).await;
        }
        if !outcomes.is_empty() {
            self.settle(outcomes, made.is_empty()).await;
        }
    }

    async fn make(&mut self, made: &[Made], lease: &Arc<str>, alone: bool) {
        let streams = padded(streams_of(made));
        let deliveries = made.iter().map(|made| made.deliveries.len()).sum();
        let shape = Shape::Made { streams: streams.len(), events: made.len(), deliveries, alone };
        let mut query = self.query(shape);
        for (merchant, sequence, at) in streams {
            query = query.bind(merchant.as_ref()).bind(sequence).bind(at);
        }
        for row in made {
            query = query.bind(&row.checkout).bind(row.merchant.as_ref()).bind(row.at + OPEN_MS);
            query = query.bind(&row.record).bind(row.sequence);
        }
        for row in made {
            query = query.bind(row.merchant.as_ref()).bind(row.sequence).bind(row.event.as_ref());
            query = query.bind(&row.checkout).bind(row.at).bind(row.body.as_ref());
        }
        for row in made {
            for delivery in &row.deliveries {
                query = query.bind(&delivery.id).bind(row.merchant.as_ref()).bind(row.event.as_ref());
                query = query.bind(row.sequence).bind(delivery.endpoint.as_ref()).bind(row.at);
                query = query.bind(lease.as_ref()).bind(row.at + LEASE_MS).bind(row.at).bind(row.at);
                query = query.bind(delivery.place);
            }
        }
        for row in made {
            query = query.bind(&row.audit).bind(row.at).bind(KEY).bind(&row.request);
            query = query.bind(row.merchant.as_ref()).bind(&row.checkout);
        }
        query.execute(&mut self.connection).await.unwrap();
    }

    async fn settle(&mut self, outcomes: &[Outcome], alone: bool) {
        let endpoints = padded(endpoints_of(outcomes));
        let shape = Shape::Settled { outcomes: outcomes.len(), endpoints: endpoints.len(), alone };
        let mut query = self.query(shape);
        for outcome in outcomes {
            query = query.bind(&outcome.delivery).bind(outcome.finished_at);
        }
        for outcome in outcomes {
            query = query.bind(outcome.attempt()).bind(&outcome.delivery).bind(outcome.endpoint.as_ref());
            query = query.bind(outcome.started_at).bind(outcome.started_at / 1000).bind(outcome.duration_ms);
        }
        for (endpoint, at) in endpoints {
            query = query.bind(endpoint.as_ref()).bind(at);
        }
        query.execute(&mut self.connection).await.unwrap();
    }

    fn query<'q>(&mut self, shape: Shape) -> Query<'q> {
        let text = self.texts.entry(shape).or_insert_with(|| shape.text().into());
        sqlx::query(AssertSqlSafe(Arc::clone(text)))
    }
}

impl Shape {
    fn text(self) -> String {
        let begin = "BEGIN IMMEDIATE; ";
        match self {
            Self::Made { streams, events, deliveries, alone } => format!(
                "{begin}INSERT INTO streams (merchant_id, livemode, last_sequence, last_created_at) VALUES {} \
                     ON CONFLICT (shard, merchant_id, livemode) DO UPDATE SET last_sequence = excluded.last_sequence, \
                     last_created_at = excluded.last_created_at; \
                 INSERT INTO checkouts (id, merchant_id, livemode, status, currency, total, expires_at, \
                     resource_version, body, created_sequence) VALUES {}; \
                 INSERT INTO events (merchant_id, livemode, sequence, id, type, resource_id, created_at, body) VALUES {}; \
                 INSERT INTO deliveries (id, merchant_id, livemode, event_id, event_type, sequence, endpoint_id, \
                     triggered_by, status, attempt_count, next_attempt_at, lease_token, lease_until, created_at, \
                     updated_at, created_sequence) VALUES {}; \
                 INSERT INTO audit_log (id, at, key_id, request_id, operation, merchant_id, livemode, resource_id, \
                     version_before, resource_version) VALUES {}{}",
                rows("(?, 0, ?, ?)", streams),
                rows("(?, ?, 0, 'open', 'USD', 5300, ?, 1, ?, ?)", events),
                rows("(?, 0, ?, ?, 'checkout.created', ?, ?, ?)", events),
                rows(
                    "(?, ?, 0, ?, 'checkout.created', ?, ?, 'event', 'pending', 0, ?, ?, ?, ?, ?, ?)",
                    deliveries
                ),
                rows("(?, ?, ?, ?, 'checkouts.create', ?, 0, ?, NULL, 1)", events),
                if alone { "; COMMIT" } else { "" },
            ),
            Self::Settled { outcomes, endpoints, alone } => format!(
                "{}UPDATE deliveries SET status = 'succeeded', attempt_count = 1, next_attempt_at = NULL, \
                     last_outcome = 'success', last_response_status = 200, succeeded_at = s.column2, \
                     updated_at = s.column2, lease_token = NULL, lease_until = NULL \
                     FROM (VALUES {}) AS s WHERE deliveries.shard = 0 AND deliveries.id = s.column1; \
                 INSERT INTO attempts (id, delivery_id, endpoint_id, number, started_at, signed_timestamp, \
                     duration_ms, outcome, response_status) VALUES {}; \
                 UPDATE webhook_endpoints SET health_state = 'healthy', consecutive_failures = 0, \
                     last_success_at = s.column2, last_response_status = 200 \
                     FROM (VALUES {}) AS s WHERE webhook_endpoints.shard = 0 AND webhook_endpoints.id = s.column1; COMMIT",
                if alone { begin } else { "" },
                rows("(?, ?)", outcomes),
                rows("(?, ?, ?, 1, ?, ?, ?, 'success', 200)", outcomes),
                rows("(?, ?)", endpoints),
            ),
        }
    }
}

fn rows(row: &str, count: usize) -> String {
    vec![row; count].join(", ")
}

/// Filled up with the last one to a power of two, so that there are fewer texts; writing a row twice changes nothing.
fn padded<T: Clone>(mut rows: Vec<T>) -> Vec<T> {
    if let Some(last) = rows.last().cloned() {
        rows.resize(rows.len().next_power_of_two(), last);
    }
    rows
}
