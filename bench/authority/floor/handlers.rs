//! The floor's four handlers, compiled for each database.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::extract::{Path, Query, State};
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use axum::routing::{get, post};
use axum::{Json, Router};
use serde::Deserialize;
use sqlx::{Pool, QueryBuilder, Row, Transaction};

use super::super::template::{
    CHECKOUT_COMPLETED, ORDER_CONFIRMED, PAYMENT_CREATED, PAYMENT_SUCCEEDED, Template,
};
use super::{BEGIN, Db};

#[derive(Clone)]
struct Floor {
    record_readers: Pool<Db>,
    list_readers: Pool<Db>,
    writers: Pool<Db>,
    written: Arc<Written>,
}

/// The texts that every order gets, and a number for what must be unique.
struct Written {
    events: Vec<(String, String)>,
    payment_created: String,
    payment_succeeded: String,
    checkout_completed: String,
    order_confirmed: String,
    started: u64,
    next: AtomicU64,
}

impl Written {
    fn id(&self, prefix: &str) -> String {
        format!("{prefix}_{:013x}{:013}", self.started, self.next.fetch_add(1, Ordering::Relaxed))
    }
}

pub(super) async fn router(
    record_readers: Pool<Db>,
    list_readers: Pool<Db>,
    writers: Pool<Db>,
    template: &str,
) -> Router {
    let events =
        sqlx::query_as("SELECT type, body FROM events WHERE merchant_id = $1 ORDER BY sequence LIMIT 6")
            .bind(template)
            .fetch_all(&list_readers)
            .await
            .unwrap();
    let template = Template::new(events);
    let written = Written {
        payment_created: template.record(PAYMENT_CREATED),
        payment_succeeded: template.record(PAYMENT_SUCCEEDED),
        checkout_completed: template.record(CHECKOUT_COMPLETED),
        order_confirmed: template.record(ORDER_CONFIRMED),
        events: template.events,
        started: std::process::id().into(),
        next: AtomicU64::new(0),
    };
    Router::new()
        .route("/orders/{merchant}/{order}", get(order))
        .route("/events/{merchant}", get(events_page))
        .route("/merchants/{merchant}/payments", post(payment_start))
        .route("/merchants/{merchant}/payments/{payment}/reports", post(payment_report))
        .with_state(Floor { record_readers, list_readers, writers, written: Arc::new(written) })
}

async fn order(
    State(floor): State<Floor>,
    Path((merchant, order)): Path<(String, String)>,
) -> impl IntoResponse {
    let (body, _version): (String, i64) = sqlx::query_as(concat!(
        "SELECT body, resource_version FROM orders WHERE shard = ",
        shard_of!("$1"),
        " AND merchant_id = $1 AND livemode = $2 AND order_number = $3",
    ))
    .bind(merchant)
    .bind(false)
    .bind(order)
    .fetch_one(&floor.record_readers)
    .await
    .unwrap();
    ([(CONTENT_TYPE, "application/json")], body)
}

#[derive(Deserialize)]
struct PageRequest {
    after: i64,
    limit: i64,
}

async fn events_page(
    State(floor): State<Floor>,
    Path(merchant): Path<String>,
    Query(request): Query<PageRequest>,
) -> impl IntoResponse {
    let rows = sqlx::query(concat!(
        "SELECT sequence, body FROM events WHERE shard = ",
        shard_of!("$1"),
        " AND merchant_id = $1 AND livemode = $2 AND sequence > $3 ORDER BY sequence LIMIT $4",
    ))
    .bind(merchant)
    .bind(false)
    .bind(request.after)
    .bind(request.limit + 1)
    .fetch_all(&floor.list_readers)
    .await
    .unwrap();
    let mut page = String::with_capacity(128 * 1024);
    page.push_str("{\"data\":[");
    let mut last = 0_i64;
    // The authority's own query: one row more than the page shows tells whether there is a next one.
    for (index, row) in rows.iter().take(usize::try_from(request.limit).unwrap()).enumerate() {
        if index > 0 {
            page.push(',');
        }
        last = row.get(0);
        page.push_str(row.get::<&str, _>(1));
    }
    page.push_str(&format!("],\"next_cursor\":\"{last}\"}}"));
    ([(CONTENT_TYPE, "application/json")], page)
}

/// What starts a payment, and what reports of one.
#[derive(Deserialize)]
struct Message {
    checkout_id: String,
    processor_event_id: String,
}

async fn payment_start(
    State(floor): State<Floor>,
    Path(merchant): Path<String>,
    Json(start): Json<Message>,
) -> impl IntoResponse {
    let written = &floor.written;
    let payment = written.id("pay");
    let mut tx = floor.writers.begin_with(BEGIN).await.unwrap();
    let sequence = advance(&mut tx, &merchant, 1).await;
    sqlx::query(
        concat!(
            "INSERT INTO payments (id, merchant_id, livemode, status, checkout_id, order_number, currency, amount, \
                 amount_authorized, amount_captured, amount_refunded, resource_version, created_at, body, \
                 created_sequence, shard) \
             VALUES ($1, $2, $3, 'created', $4, NULL, 'USD', 5300, 0, 0, 0, 1, 0, $5, $6, ",
            shard_of!("$2"), ")",
        ),
    )
    .bind(&payment)
    .bind(&merchant)
    .bind(false)
    .bind(&start.checkout_id)
    .bind(&written.payment_created)
    .bind(sequence)
    .execute(&mut *tx)
    .await
    .unwrap();
    events(&mut tx, written, &merchant, sequence, PAYMENT_CREATED, 1).await;
    report_row(&mut tx, &merchant, ("start", "created"), &start.processor_event_id, &payment).await;
    audit(&mut tx, written, &merchant, "payments.start", &payment).await;
    tx.commit().await.unwrap();
    Json(serde_json::json!({ "id": payment, "checkout_id": start.checkout_id }))
}

async fn payment_report(
    State(floor): State<Floor>,
    Path((merchant, payment)): Path<(String, String)>,
    Json(report): Json<Message>,
) -> impl IntoResponse {
    let written = &floor.written;
    let mut tx = floor.writers.begin_with(BEGIN).await.unwrap();
    report_row(&mut tx, &merchant, ("report", "succeeded"), &report.processor_event_id, &payment).await;
    let number = order_number(&mut tx, &merchant).await;
    let first = advance(&mut tx, &merchant, 4).await;
    let completed = concat!(
        "UPDATE checkouts SET status = 'completed', resource_version = 2, body = $2 WHERE id = $1 AND shard = ",
        shard_of!("$3"),
        " AND merchant_id = $3",
    );
    sqlx::query(completed)
        .bind(&report.checkout_id)
        .bind(&written.checkout_completed)
        .bind(&merchant)
        .execute(&mut *tx)
        .await
        .unwrap();
    order_rows(&mut tx, written, &merchant, &number, first).await;
    sqlx::query(concat!(
        "UPDATE payments SET status = 'succeeded', order_number = $2, amount_authorized = 5300, \
                 amount_captured = 5300, resource_version = 2, body = $3 WHERE id = $1 AND shard = ",
        shard_of!("$4"),
        " AND merchant_id = $4",
    ))
    .bind(&payment)
    .bind(&number)
    .bind(&written.payment_succeeded)
    .bind(&merchant)
    .execute(&mut *tx)
    .await
    .unwrap();
    events(&mut tx, written, &merchant, first, CHECKOUT_COMPLETED, 4).await;
    audit(&mut tx, written, &merchant, "payments.report", &payment).await;
    tx.commit().await.unwrap();
    Json(serde_json::json!({ "order_number": number, "id": payment }))
}

/// Takes `count` places of the stream; tells the first.
async fn advance(tx: &mut Transaction<'static, Db>, merchant: &str, count: i64) -> i64 {
    let last: i64 = sqlx::query_scalar(
        concat!(
            "INSERT INTO streams (merchant_id, livemode, last_sequence, last_created_at, shard) VALUES ($1, $2, $3, 0, ",
            shard_of!("$1"),
            ") ON CONFLICT (shard, merchant_id, livemode) DO UPDATE SET \
                 last_sequence = streams.last_sequence + excluded.last_sequence RETURNING last_sequence",
        ),
    )
    .bind(merchant)
    .bind(false)
    .bind(count)
    .fetch_one(&mut **tx)
    .await
    .unwrap();
    last - count + 1
}

async fn order_number(tx: &mut Transaction<'static, Db>, merchant: &str) -> String {
    let number: i64 = sqlx::query_scalar(
        concat!(
            "INSERT INTO order_counters (merchant_id, livemode, last_number, shard) VALUES ($1, $2, 100001, ",
            shard_of!("$1"),
            ") ON CONFLICT (shard, merchant_id, livemode) DO UPDATE SET last_number = order_counters.last_number + 1 \
             RETURNING last_number",
        ),
    )
    .bind(merchant)
    .bind(false)
    .fetch_one(&mut **tx)
    .await
    .unwrap();
    number.to_string()
}

async fn order_rows(
    tx: &mut Transaction<'static, Db>,
    written: &Written,
    merchant: &str,
    number: &str,
    first: i64,
) {
    sqlx::query(
        concat!(
            "INSERT INTO orders (merchant_id, livemode, order_number, status, payment_status, fulfillment_status, \
                 currency, total, customer_reference, resource_version, created_at, updated_at, body, \
                 created_sequence, last_sequence, shard) \
             VALUES ($1, $2, $3, 'confirmed', 'paid', 'unfulfilled', 'USD', 5300, NULL, 2, 0, 0, $4, $5, $6, ",
            shard_of!("$1"), ")",
        ),
    )
    .bind(merchant)
    .bind(false)
    .bind(number)
    .bind(&written.order_confirmed)
    .bind(first + 1)
    .bind(first + 3)
    .execute(&mut **tx)
    .await
    .unwrap();
    sqlx::query(concat!(
        "INSERT INTO order_lines (merchant_id, livemode, order_number, id, quantity, fulfilled_quantity, \
                 shipped_quantity, delivered_quantity, shard) VALUES ($1, $2, $3, $4, 2, 0, 0, 0, ",
        shard_of!("$1"),
        ")",
    ))
    .bind(merchant)
    .bind(false)
    .bind(number)
    .bind(written.id("li"))
    .execute(&mut **tx)
    .await
    .unwrap();
}

async fn events(
    tx: &mut Transaction<'static, Db>,
    written: &Written,
    merchant: &str,
    first: i64,
    from: usize,
    count: usize,
) {
    let mut query = QueryBuilder::<Db>::new(concat!(
        "INSERT INTO events (shard, merchant_id, livemode, sequence, id, type, resource_id, created_at, body) \
             SELECT ",
        shard_of!("column1"),
        ", column1, column2, column3, column4, column5, column6, column7, column8 \
             FROM (",
    ));
    query.push_values(
        written.events[from..from + count].iter().zip(first..),
        |mut row, (event, sequence)| {
            row.push_bind(merchant.to_owned())
                .push_bind(false)
                .push_bind(sequence)
                .push_bind(written.id("evt"))
                .push_bind(event.0.clone())
                .push_bind(written.id("pay"))
                .push_bind(0_i64)
                .push_bind(event.1.clone());
        },
    );
    query.push(") AS v");
    query.build().execute(&mut **tx).await.unwrap();
}

async fn report_row(
    tx: &mut Transaction<'static, Db>,
    merchant: &str,
    (message, said): (&str, &str),
    event_id: &str,
    payment: &str,
) {
    sqlx::query(
        concat!(
            "INSERT INTO processor_reports (merchant_id, livemode, processor, message, processor_event_id, resource_id, \
                 said, received_at, shard) VALUES ($1, $2, 'acme-pay', $3, $4, $5, $6, 0, ",
            shard_of!("$1"), ")",
        ),
    )
    .bind(merchant)
    .bind(false)
    .bind(message)
    .bind(event_id)
    .bind(payment)
    .bind(said)
    .execute(&mut **tx)
    .await
    .unwrap();
}

async fn audit(
    tx: &mut Transaction<'static, Db>,
    written: &Written,
    merchant: &str,
    operation: &str,
    payment: &str,
) {
    sqlx::query(concat!(
        "INSERT INTO audit_log (id, at, key_id, request_id, operation, merchant_id, livemode, resource_id, \
                 version_before, resource_version, shard) VALUES ($1, 0, $2, $3, $4, $6, $7, $5, 1, 2, ",
        shard_of!("$6"),
        ")",
    ))
    .bind(written.id("aud"))
    .bind("key_00000000000000000000000000")
    .bind(written.id("req"))
    .bind(operation)
    .bind(payment)
    .bind(merchant)
    .bind(false)
    .execute(&mut **tx)
    .await
    .unwrap();
}
