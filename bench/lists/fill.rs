//! One record of each kind, made through the API, and as many copies as are wanted, made by the database.

use bench_kit::copies::{Copied, execute};
use tests::authority::Authority;
use tests::merchant::{Merchant, text};
use tests::receiver::Receiver;

/// The merchant and its first records.
pub(crate) struct Shop {
    pub(crate) merchant: String,
    pub(crate) key: String,
    pub(crate) order: String,
    pub(crate) endpoint: String,
    /// When the order was made, Unix milliseconds.
    made_at: i64,
}

/// Seconds between two copies of a record.
const APART: u64 = 10;

/// Opens it: one order that is paid and partly refunded, one subscription, one endpoint that got the events.
pub(crate) async fn shop(authority: &Authority) -> Shop {
    let merchant = Merchant::create(authority, "large").await;
    let receiver = Receiver::accepting().await;
    let endpoint = merchant.endpoint(&receiver.url("/"), &["*"]).await;
    let order = merchant.paid_order().await;
    merchant
        .api
        .post(&format!("/orders/{order}/refunds"), &serde_json::json!({ "amount": 1 }))
        .await
        .expect(201);
    merchant.subscription().await;
    authority.nothing_pending().await;
    let made_at = text(&merchant.order(&order).await, "created_at");
    let made_at = authority_domain::time::Timestamp::parse(&made_at).unwrap().as_ms();
    Shop { merchant: merchant.id, key: merchant.key, order, endpoint: endpoint.id, made_at }
}

/// When the copy with this number was made, as a filter has it.
pub(crate) fn time_of(shop: &Shop, copy: u64) -> String {
    let ms = shop.made_at + i64::try_from(copy * APART * 1000).unwrap();
    authority_domain::time::Timestamp::from_ms(ms).to_string()
}

/// One in a hundred thousand is rare.
const COPIED: [Copied<'_>; 6] = [
    Copied {
        table: "orders",
        row: "TRUE",
        changed: &[
            ("order_number", "order_number || '-' || n"),
            ("status", "CASE WHEN n % 100000 = 0 THEN 'cancelled' ELSE status END"),
            ("payment_status", "CASE WHEN n % 100000 = 1 THEN 'voided' ELSE payment_status END"),
            ("customer_reference", "'c-' || (n % 10000)"),
            ("last_sequence", "1000 + n"),
            ("updated_at", "updated_at + n * 10000"),
        ],
    },
    Copied {
        table: "payments",
        row: "TRUE",
        changed: &[
            ("id", "'pay_' || n"),
            ("order_number", "order_number || '-' || n"),
            ("status", "CASE WHEN n % 100000 = 0 THEN 'failed' ELSE status END"),
        ],
    },
    Copied {
        table: "refunds",
        row: "TRUE",
        changed: &[
            ("id", "'rfd_' || n"),
            ("order_number", "order_number || '-' || n"),
            ("idempotency_key", "NULL"),
            ("status", "CASE WHEN n % 100000 = 0 THEN 'failed' ELSE 'completed' END"),
        ],
    },
    Copied {
        table: "subscriptions",
        row: "TRUE",
        changed: &[
            ("id", "'sub_' || n"),
            ("customer_reference", "'c-' || (n % 10000)"),
            ("status", "CASE WHEN n % 100000 = 0 THEN 'cancelled' ELSE 'past_due' END"),
        ],
    },
    Copied {
        table: "events",
        row: "type = 'order.created'",
        changed: &[
            ("id", "'evt_' || n"),
            ("sequence", "1000 + n"),
            ("resource_id", "resource_id || '-' || n"),
            ("type", "CASE WHEN n % 100000 = 0 THEN 'order.cancelled' ELSE type END"),
        ],
    },
    Copied {
        table: "deliveries",
        row: "event_type = 'order.created' AND triggered_by = 'event'",
        changed: &[
            ("id", "'dlv_' || n"),
            ("event_id", "'evt_' || n"),
            ("sequence", "1000 + n"),
            ("event_type", "CASE WHEN n % 100000 = 0 THEN 'order.cancelled' ELSE event_type END"),
        ],
    },
];

/// Makes the copies, newer ones behind older ones, in every table.
pub(crate) async fn copies(url: &str, shop: &Shop, copies: u64) {
    let usual = [("created_sequence", "1000 + n"), ("created_at", "created_at + n * 10000")];
    for copied in &COPIED {
        let row = format!("merchant_id = '{}' AND {}", shop.merchant, copied.row);
        Copied { row: &row, ..*copied }.copy(url, 1..=copies, &usual).await;
    }
    let last = copies + 1000;
    let counted =
        format!("UPDATE streams SET last_sequence = {last} WHERE merchant_id = '{}'", shop.merchant);
    execute(url, &counted).await;
    // A server does so by itself; SQLite never does unless it is asked to.
    if url.starts_with("postgres") {
        execute(url, "ANALYZE").await;
    }
}
