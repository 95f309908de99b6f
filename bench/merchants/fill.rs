//! Merchants by the million: one is made through the API, with ten events and what they tell of, and the database
//! copies all of its rows.
//!
//! A copy has the ids of the original with its own number as their last eight digits, wherever they stand, so that
//! records, events and deliveries agree and the doctor finds nothing. All first events come before all second ones, as
//! they do where many merchants are at work: what belongs to one merchant lies apart. Each copy has a key of its own,
//! which its number makes. Deliberately absent: the secrets of the copies' endpoints, which are sealed for one endpoint
//! each; nobody sends to these.

use authority_domain::merchant::api_key::{ApiKey, KeyKind};
use bench_kit::copies::columns;
use serde_json::json;
use tests::authority::Authority;
use tests::clock::now_ms;
use tests::merchant::Merchant;
use tests::receiver::Receiver;
use verify_core::id::is_issued;

use crate::bulk::Bulk;

/// Events of each merchant.
const EVENTS: usize = 10;
/// Merchants one of whose deliveries waits for its next attempt: so many have work for a claim, however many there are.
pub(crate) const WAITING: u64 = 1_000;
/// When that attempt is due, from the making on: not while requests are measured.
pub(crate) const DUE_AFTER_MS: i64 = 6 * 60 * 60 * 1000;

/// In place of a copy's number.
const MARK: &str = "########";
/// The number of copy `n` in eight digits.
const EIGHT: &str = "substr(CAST(100000000 + n AS TEXT), 2)";
/// In the original's slug and name, where a copy has its number.
const ORIGINAL: &str = "original";
/// Keys in one statement.
const KEYS: u64 = 2_000;

/// What is copied, each table behind those that it refers to.
const TABLES: &str = "merchants webhook_endpoints streams order_counters checkouts orders order_lines payments refunds \
     shipments processor_reports events deliveries attempts";

/// The original, and with it every copy.
pub(crate) struct Shop {
    id: String,
    pub(crate) order: String,
    pub(crate) merchants: u64,
}

impl Shop {
    /// The merchant with this number.
    pub(crate) fn merchant(&self, number: u64) -> String {
        format!("{}{number:08}", &self.id[..self.id.len() - MARK.len()])
    }

    /// Its key.
    pub(crate) fn key(number: u64) -> ApiKey {
        let mut random = [0; 32];
        random[24..].copy_from_slice(&number.to_be_bytes());
        ApiKey::generate(KeyKind::Test, &random)
    }
}

/// Makes the original and `merchants` copies. The authority is stopped then.
pub(crate) async fn shop(authority: &mut Authority, merchants: u64) -> Shop {
    let receiver = Receiver::accepting().await;
    // Every merchant has orders cancelled that stay pending: somebody has to look for them.
    let settings = json!({ "pending_order_ttl_hours": 48 });
    let original = Merchant::with_settings(authority, ORIGINAL, settings).await;
    original.endpoint(&receiver.url("/"), &["refund.*", "shipment.*"]).await;
    let order = original.paid_order().await;
    let parcel = json!({ "carrier": "dhl" });
    original.api.post(&format!("/orders/{order}/shipments"), &parcel).await.expect(201);
    original.api.post(&format!("/orders/{order}/refunds"), &json!({ "amount": 1 })).await.expect(201);
    while original.events().await.len() < EVENTS {
        original.checkout().await;
    }
    assert_eq!(original.events().await.len(), EVENTS);
    authority.nothing_pending().await;
    authority.terminate().await;
    let shop = Shop { id: original.id, order, merchants };
    let mut bulk = Bulk::open(authority.database_url()).await;
    copy(&mut bulk, authority.database_url(), &shop).await;
    bulk.close().await;
    shop
}

async fn copy(bulk: &mut Bulk, url: &str, shop: &Shop) {
    let id = &shop.id;
    let mut tables = Vec::new();
    for table in TABLES.split(' ') {
        let of = match table {
            "merchants" => format!("id = '{id}'"),
            // Attempts know their delivery alone.
            "attempts" => format!("delivery_id IN (SELECT id FROM deliveries WHERE merchant_id = '{id}')"),
            _ => format!("merchant_id = '{id}'"),
        };
        tables.push(Rows::read(bulk, url, table, &of, id).await);
    }
    let key = Rows::read(bulk, url, "api_keys", &format!("merchant_id = '{id}'"), id).await;
    let indexes = bulk.drop_indexes().await;
    for rows in &tables {
        rows.copy(bulk, shop.merchants).await;
    }
    key.copy_keys(bulk, shop.merchants).await;
    let last = tables.iter().find(|rows| rows.table == "deliveries").and_then(|rows| rows.rows.last());
    let last = last.expect("the original has deliveries").first().expect("an id").clone();
    wait(bulk, &last, shop.merchants).await;
    for index in indexes {
        bulk.run(&index).await;
    }
}

/// The rows of one table, as literals with the mark in place of each copy's number.
struct Rows {
    table: &'static str,
    columns: Vec<String>,
    rows: Vec<Vec<String>>,
    /// The original's id, of which a copy's shard is computed.
    merchant: String,
}

impl Rows {
    async fn read(bulk: &mut Bulk, url: &str, table: &'static str, of: &str, merchant: &str) -> Self {
        let mut columns = columns(url, table).await;
        columns.sort_by_key(|column| column != "id");
        let (quote, between) = match bulk {
            Bulk::Sqlite(_) => ("quote", "char(31)"),
            Bulk::Postgres(_) => ("quote_nullable", "chr(31)"),
        };
        let literals: Vec<String> = columns.iter().map(|column| format!("{quote}({column})")).collect();
        let literals = literals.join(&format!(" || {between} || "));
        let rows = bulk.texts(&format!("SELECT {literals} FROM {table} WHERE {of} ORDER BY 1")).await;
        assert!(!rows.is_empty(), "the original has no {table}");
        let rows = rows.iter().map(|row| row.split('\u{1f}').map(marked).collect()).collect();
        Self { table, columns, rows, merchant: marked(&format!("'{merchant}'")) }
    }

    fn into(&self) -> String {
        format!("INSERT INTO {} ({})", self.table, self.columns.join(", "))
    }

    async fn copy(&self, bulk: &mut Bulk, copies: u64) {
        for row in &self.rows {
            let shard =
                matches!(bulk, Bulk::Postgres(_)).then(|| format!("shard_of({})", numbered(&self.merchant)));
            let of_shard =
                |column: &str| shard.as_ref().filter(|_| matches!(column, "shard" | "event_shard"));
            let value = |(column, value): (&String, &String)| {
                of_shard(column).cloned().unwrap_or_else(|| numbered(value))
            };
            let values: Vec<String> = self.columns.iter().zip(row).map(value).collect();
            let (into, values, numbers) = (self.into(), values.join(", "), numbers(copies));
            bulk.run(&format!("{into} {numbers} SELECT {values} FROM n")).await;
        }
    }

    /// Every copy's key has a hash of its own.
    async fn copy_keys(&self, bulk: &mut Bulk, copies: u64) {
        let bytes = match bulk {
            Bulk::Sqlite(_) => "x'",
            Bulk::Postgres(_) => "'\\x",
        };
        let row = self.rows.first().expect("the original has a key");
        let of = |number: u64| {
            let key = Shop::key(number);
            let hash: String = key.hash().iter().map(|byte| format!("{byte:02x}")).collect();
            let value = |(column, value): (&String, &String)| match column.as_str() {
                "hash" => format!("{bytes}{hash}'"),
                "display" => format!("'{}'", key.display()),
                _ => value.replace(MARK, &format!("{number:08}")),
            };
            let values: Vec<String> = self.columns.iter().zip(row).map(value).collect();
            format!("({})", values.join(", "))
        };
        bulk.run("BEGIN").await;
        for first in (1..=copies).step_by(usize::try_from(KEYS).unwrap()) {
            let some: Vec<String> = (first..=copies.min(first + KEYS - 1)).map(of).collect();
            bulk.run(&format!("{} VALUES {}", self.into(), some.join(", "))).await;
        }
        bulk.run("COMMIT").await;
    }
}

/// Lets the delivery with this id wait, of merchants that are spread over all.
async fn wait(bulk: &mut Bulk, id: &str, merchants: u64) {
    let apart = (merchants / WAITING).max(1);
    let due = now_ms() + DUE_AFTER_MS;
    let some = format!("({} SELECT {} FROM n WHERE n % {apart} = 0)", numbers(merchants), numbered(id));
    for (table, column, change) in [
        (
            "attempts",
            "delivery_id",
            format!("outcome = 'http_error', response_status = 503, retry_at = {due}"),
        ),
        (
            "deliveries",
            "id",
            format!(
                "status = 'pending', next_attempt_at = {due}, succeeded_at = NULL, last_outcome = 'http_error', \
                 last_response_status = 503"
            ),
        ),
    ] {
        bulk.run(&format!("UPDATE {table} SET {change} WHERE {column} IN {some}")).await;
    }
}

fn numbers(copies: u64) -> String {
    format!(
        "WITH RECURSIVE n(n) AS (SELECT CAST(1 AS BIGINT) UNION ALL SELECT n + 1 FROM n WHERE n < {copies})"
    )
}

fn numbered(literal: &str) -> String {
    match literal.contains(MARK) {
        true => format!("replace({literal}, '{MARK}', {EIGHT})"),
        false => literal.to_owned(),
    }
}

/// Puts the mark into every id, and into the original's name.
fn marked(literal: &str) -> String {
    let mut text = literal.to_owned();
    for word in literal.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_') {
        if let Some((prefix, _)) = word.split_once('_')
            && is_issued(prefix, word)
        {
            text = text.replace(word, &format!("{}{MARK}", &word[..word.len() - MARK.len()]));
        }
    }
    text.replace(ORIGINAL, &format!("{ORIGINAL}-{MARK}"))
}
