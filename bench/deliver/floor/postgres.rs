//! The floor's statements on PostgreSQL: a batch is one statement, its rows in arrays, and so one round trip with its
//! commit.

use std::str::FromStr as _;
use std::sync::Arc;

use sqlx::ConnectOptions as _;
use sqlx::postgres::{PgConnectOptions, PgConnection};

use super::database::{FIRST, KEY, LEASE_MS, OPEN_MS, endpoints_of, streams_of};
use super::sender::Outcome;
use super::writer::Made;

const MAKE: &str = "\
WITH s AS (INSERT INTO streams (shard, merchant_id, livemode, last_sequence, last_created_at) \
         SELECT shard_of(merchant), merchant, FALSE, sequence, at FROM UNNEST($1::text[], $2::bigint[], $3::bigint[]) \
             AS r (merchant, sequence, at) \
         ON CONFLICT (shard, merchant_id, livemode) DO UPDATE SET last_sequence = excluded.last_sequence, \
             last_created_at = excluded.last_created_at), \
     made AS (SELECT * FROM UNNEST($4::text[], $5::text[], $6::bigint[], $7::text[], $8::bigint[], $9::text[], \
             $10::text[], $11::text[], $12::text[]) \
         AS r (checkout, merchant, at, record, sequence, event, body, audit, request)), \
     c AS (INSERT INTO checkouts (shard, id, merchant_id, livemode, status, currency, total, expires_at, resource_version, \
             body, created_sequence) \
         SELECT shard_of(merchant), checkout, merchant, FALSE, 'open', 'USD', 5300, at + $13, 1, record, sequence FROM made), \
     e AS (INSERT INTO events (shard, merchant_id, livemode, sequence, id, type, resource_id, created_at, body) \
         SELECT shard_of(merchant), merchant, FALSE, sequence, event, 'checkout.created', checkout, at, body FROM made), \
     d AS (INSERT INTO deliveries (shard, event_shard, id, merchant_id, livemode, event_id, event_type, sequence, endpoint_id, \
             triggered_by, status, attempt_count, next_attempt_at, lease_token, lease_until, created_at, updated_at, \
             created_sequence) \
         SELECT shard_of(merchant), shard_of(merchant), id, merchant, FALSE, event, 'checkout.created', sequence, endpoint, 'event', 'pending', 0, at, $15, \
             at + $16, at, at, place \
         FROM UNNEST($17::text[], $18::text[], $19::text[], $20::bigint[], $21::text[], $22::bigint[], \
             $23::bigint[]) AS r (id, merchant, event, sequence, endpoint, at, place)) \
 INSERT INTO audit_log (shard, id, at, key_id, request_id, operation, merchant_id, livemode, resource_id, version_before, \
     resource_version) SELECT shard_of(merchant), audit, at, $14, request, 'checkouts.create', merchant, FALSE, checkout, NULL, 1 FROM made";

const SETTLE: &str = "\
WITH settled AS (SELECT * FROM UNNEST($1::text[], $2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::bigint[]) \
         AS r (attempt, delivery, endpoint, started_at, finished_at, duration_ms)), \
     d AS (UPDATE deliveries SET status = 'succeeded', attempt_count = 1, next_attempt_at = NULL, \
             last_outcome = 'success', last_response_status = 200, succeeded_at = finished_at, \
             updated_at = finished_at, lease_token = NULL, lease_until = NULL \
         FROM settled WHERE deliveries.id = delivery RETURNING deliveries.shard, delivery), \
     a AS (INSERT INTO attempts (shard, id, delivery_id, endpoint_id, number, started_at, signed_timestamp, duration_ms, \
             outcome, response_status) \
         SELECT d.shard, attempt, delivery, endpoint, 1, started_at, started_at / 1000, duration_ms, 'success', 200 \
         FROM settled JOIN d USING (delivery)) \
 UPDATE webhook_endpoints SET health_state = 'healthy', consecutive_failures = 0, last_success_at = at, \
     last_response_status = 200 \
     FROM UNNEST($7::text[], $8::bigint[]) AS r (endpoint, at) \
     WHERE webhook_endpoints.shard IN (SELECT shard FROM turns) AND webhook_endpoints.id = endpoint";

pub(super) struct Postgres {
    connection: PgConnection,
}

impl Postgres {
    pub(super) async fn open(url: &str) -> Self {
        let options = PgConnectOptions::from_str(url).unwrap().options([("synchronous_commit", "on")]);
        Self { connection: options.connect().await.unwrap() }
    }

    pub(super) async fn first(&mut self) -> (String, String, i64) {
        sqlx::query_as(FIRST).fetch_one(&mut self.connection).await.unwrap()
    }

    pub(super) async fn write(&mut self, made: &[Made], lease: &Arc<str>, outcomes: &[Outcome]) {
        if !made.is_empty() {
            self.make(made, lease).await;
        }
        if !outcomes.is_empty() {
            self.settle(outcomes).await;
        }
    }

    async fn make(&mut self, made: &[Made], lease: &Arc<str>) {
        let streams = streams_of(made);
        let texts = |text: fn(&Made) -> &str| made.iter().map(text).collect::<Vec<_>>();
        let numbers = |number: fn(&Made) -> i64| made.iter().map(number).collect::<Vec<_>>();
        let deliveries: Vec<_> = made
            .iter()
            .flat_map(|made| made.deliveries.iter().map(move |delivery| (made, delivery)))
            .collect();
        sqlx::query(MAKE)
            .bind(streams.iter().map(|(merchant, ..)| merchant.as_ref()).collect::<Vec<&str>>())
            .bind(streams.iter().map(|(_, sequence, _)| *sequence).collect::<Vec<_>>())
            .bind(streams.iter().map(|(.., at)| *at).collect::<Vec<_>>())
            .bind(texts(|made| &made.checkout))
            .bind(texts(|made| &made.merchant))
            .bind(numbers(|made| made.at))
            .bind(texts(|made| &made.record))
            .bind(numbers(|made| made.sequence))
            .bind(texts(|made| &made.event))
            .bind(texts(|made| &made.body))
            .bind(texts(|made| &made.audit))
            .bind(texts(|made| &made.request))
            .bind(OPEN_MS)
            .bind(KEY)
            .bind(lease.as_ref())
            .bind(LEASE_MS)
            .bind(deliveries.iter().map(|(_, delivery)| delivery.id.as_str()).collect::<Vec<_>>())
            .bind(deliveries.iter().map(|(made, _)| made.merchant.as_ref()).collect::<Vec<&str>>())
            .bind(deliveries.iter().map(|(made, _)| made.event.as_ref()).collect::<Vec<&str>>())
            .bind(deliveries.iter().map(|(made, _)| made.sequence).collect::<Vec<_>>())
            .bind(deliveries.iter().map(|(_, delivery)| delivery.endpoint.as_ref()).collect::<Vec<&str>>())
            .bind(deliveries.iter().map(|(made, _)| made.at).collect::<Vec<_>>())
            .bind(deliveries.iter().map(|(_, delivery)| delivery.place).collect::<Vec<_>>())
            .execute(&mut self.connection)
            .await
            .unwrap();
    }

    async fn settle(&mut self, outcomes: &[Outcome]) {
        let endpoints = endpoints_of(outcomes);
        let numbers = |number: fn(&Outcome) -> i64| outcomes.iter().map(number).collect::<Vec<_>>();
        sqlx::query(SETTLE)
            .bind(outcomes.iter().map(Outcome::attempt).collect::<Vec<_>>())
            .bind(outcomes.iter().map(|outcome| outcome.delivery.as_str()).collect::<Vec<_>>())
            .bind(outcomes.iter().map(|outcome| outcome.endpoint.as_ref()).collect::<Vec<&str>>())
            .bind(numbers(|outcome| outcome.started_at))
            .bind(numbers(|outcome| outcome.finished_at))
            .bind(numbers(|outcome| outcome.duration_ms))
            .bind(endpoints.iter().map(|(endpoint, _)| endpoint.as_ref()).collect::<Vec<&str>>())
            .bind(endpoints.iter().map(|(_, at)| *at).collect::<Vec<_>>())
            .execute(&mut self.connection)
            .await
            .unwrap();
    }
}
