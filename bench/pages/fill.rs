//! The history behind the pages: records that are made through the API, and a million copies that the database makes.
//!
//! Nine tenths belong to one merchant, who has an endpoint that takes everything, one delivery in a thousand failed,
//! and another that is held back while a fifth of its events waits; and an order with a long history. Nine other
//! merchants have the rest. Copies are a tenth of a millisecond apart, so that all of them lie behind their reader and
//! within the last day, in the order of their sequences.

use std::ops::RangeInclusive;

use bench_kit::copies::{Copied, execute};
use http::Method;
use serde_json::json;
use tests::authority::Authority;
use tests::clock::now_ms;
use tests::merchant::{Merchant, text};
use tests::receiver::{Answer, Receiver};

/// Merchants beside the large one.
const OTHERS: u64 = 9;
/// Versions of the order with the long history: more than a page shows.
const VERSIONS: usize = 150;
/// Spans of five minutes in a day, of which counted attempts have a row each.
const SPANS: u64 = 288;

/// The number of a copy in eight digits, and an id that ends with it.
macro_rules! copied_id {
    ($column:literal) => {
        concat!(
            "substr(",
            $column,
            ", 1, length(",
            $column,
            ") - 8) || substr(CAST(100000000 + n AS TEXT), 2)"
        )
    };
}

/// What pages are asked about.
pub(crate) struct History {
    pub(crate) large: Merchant,
    pub(crate) others: Vec<Merchant>,
    /// Takes everything.
    pub(crate) good: String,
    /// Is held back.
    pub(crate) held: String,
    pub(crate) order: String,
    pub(crate) long_order: String,
    pub(crate) checkout: String,
    pub(crate) payment: String,
    pub(crate) tracking: String,
}

/// Makes it; the authority is started anew behind it.
pub(crate) async fn history(authority: &mut Authority, events: u64) -> History {
    let url = authority.database_url().to_owned();
    // One that takes what comes, but for one path.
    let receiver =
        Receiver::start(|arrival| Answer::status(if arrival.path == "/held" { 503 } else { 200 })).await;
    let large = Merchant::create(authority, "large").await;
    let good = large.endpoint(&receiver.url("/"), &["*"]).await.id;
    let held = large.endpoint(&receiver.url("/held"), &["*"]).await.id;
    let order = paid(&large).await;
    let long_order = large.paid_order().await;
    for version in 0..VERSIONS {
        large.note(&long_order, &format!("note {version}")).await;
    }
    let payments = large.api.get(&format!("/payments?order_number={order}")).await.expect(200);
    let payment = text(&payments["data"][0], "id");
    let checkout = text(&large.order(&order).await, "checkout_id");
    late_money(&large).await;
    let mut others = Vec::new();
    for number in 0..OTHERS {
        let merchant = Merchant::create(authority, &format!("shop-{number}")).await;
        merchant.endpoint(&receiver.url("/"), &["*"]).await;
        merchant.paid_order().await;
        others.push(merchant);
    }
    settled(authority, &good).await;
    authority.terminate().await;
    let share = events / 100;
    stream(&url, &large.id, 1..=events - OTHERS * share).await;
    for other in &others {
        stream(&url, &other.id, 1..=share).await;
    }
    waiting(&url, &large.id, &held, events * 4 / 5..=events - OTHERS * share).await;
    records(&url, &large.id, [&order, &checkout], events / 10).await;
    figures(&url).await;
    if url.starts_with("postgres") {
        execute(&url, "VACUUM ANALYZE").await;
    }
    authority.restart().await;
    let (large, others) = (large.at(authority), others.iter().map(|other| other.at(authority)).collect());
    History { large, others, good, held, order, long_order, checkout, payment, tracking: "JD-100".to_owned() }
}

/// An order with everything that a search finds it by.
async fn paid(merchant: &Merchant) -> String {
    let number = merchant.paid_order().await;
    let parcel = json!({ "carrier": "dhl", "tracking_number": "JD" });
    merchant.api.post(&format!("/orders/{number}/shipments"), &parcel).await.expect(201);
    let refund = json!({ "amount": 1 });
    merchant.api.post(&format!("/orders/{number}/refunds"), &refund).await.expect(201);
    let path = format!("/orders/{number}/external-references/erp");
    merchant.api.call(Method::PUT, &path).json(&json!({ "id": "ERP" })).send().await.expect(200);
    merchant.subscription().await;
    number
}

/// An alert: money that came for a checkout which was closed already.
async fn late_money(merchant: &Merchant) {
    let checkout = merchant.checkout().await;
    let payment = merchant.payment(&checkout, "automatic").await;
    let cancel = format!("/checkouts/{}/cancel", text(&checkout, "id"));
    merchant.operator.post(&cancel, &json!({})).await.expect(200);
    merchant.report(&payment, "succeeded").await;
}

/// Waits until the endpoint that takes everything has got everything.
async fn settled(authority: &Authority, endpoint: &str) {
    let pending = format!("/deliveries?endpoint_id={endpoint}&status=pending");
    while !authority.operator().get(&pending).await.expect(200)["data"].as_array().unwrap().is_empty() {}
}

/// When the copies of a record were made.
const MADE: [(&str, &str); 2] = [("created_sequence", "1000 + n"), ("created_at", "created_at + n / 10")];

/// Events, each delivered to the endpoint that takes everything, with its attempt.
async fn stream(url: &str, merchant: &str, copies: RangeInclusive<u64>) {
    let last = copies.end() + 1000;
    let first_event = format!(
        "id = (SELECT event_id FROM deliveries WHERE merchant_id = '{merchant}' AND event_type = 'order.created' \
         AND status = 'succeeded' ORDER BY id LIMIT 1)"
    );
    let of_event = first_event.replacen("id =", "event_id =", 1) + " AND status = 'succeeded'";
    let attempt = format!("delivery_id = (SELECT id FROM deliveries WHERE {of_event} LIMIT 1)");
    for (table, row, changed) in [
        ("events", &first_event, EVENT),
        ("deliveries", &of_event, DELIVERY),
        ("attempts", &attempt, ATTEMPT),
    ] {
        Copied { table, row, changed }.copy(url, copies.clone(), &MADE).await;
    }
    execute(url, &format!("UPDATE streams SET last_sequence = {last} WHERE merchant_id = '{merchant}'"))
        .await;
}

const EVENT: &[(&str, &str)] = &[
    ("id", copied_id!("id")),
    ("sequence", "1000 + n"),
    ("resource_id", "resource_id || '-' || n"),
    ("type", "CASE WHEN n % 100000 = 0 THEN 'order.cancelled' ELSE type END"),
    ("body", concat!("replace(body, id, ", copied_id!("id"), ")")),
];

const DELIVERY: &[(&str, &str)] = &[
    ("id", copied_id!("id")),
    ("event_id", copied_id!("event_id")),
    ("sequence", "1000 + n"),
    ("status", "CASE WHEN n % 1000 = 0 THEN 'failed' ELSE status END"),
    ("last_outcome", "CASE WHEN n % 1000 = 0 THEN 'http_error' ELSE last_outcome END"),
    ("last_response_status", "CASE WHEN n % 1000 = 0 THEN 500 ELSE last_response_status END"),
    ("failure_reason", "CASE WHEN n % 1000 = 0 THEN 'attempts_exhausted' END"),
    ("succeeded_at", "CASE WHEN n % 1000 <> 0 THEN succeeded_at + n / 10 END"),
    ("failed_at", "CASE WHEN n % 1000 = 0 THEN succeeded_at + n / 10 END"),
    ("updated_at", "updated_at + n / 10"),
];

const ATTEMPT: &[(&str, &str)] = &[
    ("id", copied_id!("id")),
    ("delivery_id", copied_id!("delivery_id")),
    ("started_at", "started_at + n / 10"),
    ("duration_ms", "n % 500"),
    ("outcome", "CASE WHEN n % 1000 = 0 THEN 'http_error' ELSE outcome END"),
    ("response_status", "CASE WHEN n % 1000 = 0 THEN 500 ELSE response_status END"),
];

/// Deliveries to the endpoint that is held back, of the events with these numbers.
async fn waiting(url: &str, merchant: &str, endpoint: &str, copies: RangeInclusive<u64>) {
    let first = format!(
        "endpoint_id = '{endpoint}' AND status = 'pending' AND event_id = (SELECT event_id FROM deliveries \
         WHERE merchant_id = '{merchant}' AND event_type = 'order.created' AND status = 'succeeded' \
         ORDER BY id LIMIT 1)"
    );
    let changed = [
        ("id", copied_id!("id")),
        ("event_id", copied_id!("event_id")),
        ("sequence", "1000 + n"),
        ("attempt_count", "0"),
        ("next_attempt_at", "created_at + n / 10"),
        ("updated_at", "updated_at + n / 10"),
    ];
    Copied { table: "deliveries", row: &first, changed: &changed }.copy(url, copies, &MADE).await;
    let tomorrow = now_ms() + 24 * 60 * 60 * 1000;
    execute(
        url,
        &format!(
            "UPDATE webhook_endpoints SET held_until = {tomorrow}, health_state = 'failing', \
             consecutive_failures = 100 WHERE id = '{endpoint}'"
        ),
    )
    .await;
}

/// What the search finds, the audit log, and merchants.
async fn records(url: &str, merchant: &str, [order, checkout]: [&str; 2], copies: u64) {
    let of_order = format!("merchant_id = '{merchant}' AND order_number = '{order}'");
    let of_merchant = format!("merchant_id = '{merchant}'");
    let (audit, made) = (format!("resource_id = '{checkout}'"), "slug = 'shop-0'".to_owned());
    let number = ("order_number", "order_number || '-' || n");
    let id = ("id", copied_id!("id"));
    for (table, row, changed) in [
        (
            "orders",
            &of_order,
            &[
                number,
                ("customer_reference", "'c-' || (n % 1000)"),
                ("last_sequence", "1000 + n"),
                ("updated_at", "updated_at + n / 10"),
            ][..],
        ),
        ("payments", &of_order, &[number, id][..]),
        (
            "shipments",
            &of_order,
            &[number, id, ("tracking_number", "'JD-' || n"), ("idempotency_key", "NULL")][..],
        ),
        ("external_references", &of_order, &[number, ("id", "'ERP-' || n")][..]),
        ("subscriptions", &of_merchant, &[id, ("customer_reference", "'c-' || (n % 1000)")][..]),
        ("audit_log", &audit, &[id, ("at", "at + n / 10")][..]),
        (
            "alerts",
            &"closed_at IS NULL AND merchant_id = 'operator'".to_owned(),
            &[id, ("subject", copied_id!("subject"))][..],
        ),
        ("merchants", &made, &[id, ("slug", "slug || '-' || n")][..]),
    ] {
        let copies = if matches!(table, "merchants" | "alerts") { copies / 100 } else { copies };
        Copied { table, row, changed }.copy(url, 1..=copies, &MADE).await;
    }
}

/// What was counted in the last day, for each endpoint and for all.
async fn figures(url: &str) {
    let now = now_ms();
    // A file has one shard.
    let all = i32::from(url.starts_with("postgres"));
    let (span, hour) = (now / 300_000 * 300_000, now / 3_600_000 * 3_600_000);
    execute(
        url,
        &format!(
            "INSERT INTO endpoint_figures (shard, endpoint_id, since, attempts, failed_attempts, failed_deliveries) \
             WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < {SPANS}), \
             shards(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM shards WHERE n < 63) \
             SELECT shard, id, {span} - n.n * 300000, 3000, 30, 3 FROM n CROSS JOIN webhook_endpoints \
             UNION ALL SELECT shards.n * {all}, kind, {hour} - n.n * 3600000, 36000, 360, 36 FROM n CROSS JOIN shards \
             CROSS JOIN (SELECT 'shard' AS kind UNION ALL SELECT 'events') AS kinds WHERE n.n < 24 \
             ON CONFLICT DO NOTHING"
        ),
    )
    .await;
}
