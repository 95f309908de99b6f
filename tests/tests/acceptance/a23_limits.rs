//! A23: limits, at them and one beyond (contract 4.5, 5.5, 5.6).

use futures_util::future::select_all;
use http::Method;
use serde_json::{Value, json};
use tests::{Database, Merchant, Reply, on_every_database, shipments};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

on_every_database!(
    a23_a_page_has_at_most_a_hundred_rows,
    a23_a_body_has_at_most_256_kib,
    a23_a_body_is_nested_at_most_64_deep,
    a23_a_burst_is_429_with_headers,
    a23_a_merchant_has_256_requests_under_way,
);

const BODY_LIMIT: usize = 256 * 1024;
const UNDER_WAY: usize = 256;

async fn a23_a_page_has_at_most_a_hundred_rows(database: Database) {
    let (_authority, merchant) = Merchant::on(database, "pages").await;
    for list in ["/events", "/orders", "/payments", "/refunds", "/subscriptions", "/webhook-endpoints"] {
        for limit in ["1", "100"] {
            merchant.api.get(&format!("{list}?limit={limit}")).await.expect(200);
        }
        for limit in ["0", "101", "500", "-1", "+1", "1.0", "", "x", "1e2", "99999999999999999999"] {
            let reply = merchant.api.get(&format!("{list}?limit={limit}")).await;
            let problem = reply.refused(400, "invalid_parameter");
            assert_eq!(problem["param"], "limit", "{list} {limit}");
        }
    }
}

/// A shipment's body of exactly so many bytes; blanks count like anything else.
fn padded(bytes: usize) -> String {
    let body = json!({ "carrier": "dhl" }).to_string();
    let blanks = " ".repeat(bytes - body.len());
    body + &blanks
}

async fn a23_a_body_has_at_most_256_kib(database: Database) {
    let (_authority, merchant) = Merchant::on(database, "bodies").await;
    let order = merchant.paid_order().await;
    let ship = async |body: String| -> Reply {
        merchant
            .api
            .call(Method::POST, &shipments(&order))
            .header("content-type", "application/json")
            .bytes(body)
            .send()
            .await
    };
    ship(padded(BODY_LIMIT + 1)).await.refused(413, "payload_too_large");
    ship(padded(BODY_LIMIT)).await.expect(201);
}

/// `{"carrier":"dhl","metadata":[[…]]}` with so many containers inside one another.
fn nested(depth: usize) -> String {
    let (open, close) = ("[".repeat(depth - 1), "]".repeat(depth - 1));
    format!("{{\"carrier\":\"dhl\",\"metadata\":{open}{close}}}")
}

async fn a23_a_body_is_nested_at_most_64_deep(database: Database) {
    let (_authority, merchant) = Merchant::on(database, "nesting").await;
    let order = merchant.paid_order().await;
    let ship = async |depth: usize| -> Reply {
        merchant
            .api
            .call(Method::POST, &shipments(&order))
            .header("content-type", "application/json")
            .bytes(nested(depth))
            .send()
            .await
    };
    // At the limit it is read, and found to be no metadata; beyond it, it is not read.
    let problem = ship(64).await.refused(422, "validation_failed");
    assert_eq!(problem["errors"][0]["pointer"], "/metadata");
    for depth in [65, 1_000, 100_000] {
        ship(depth).await.refused(400, "invalid_json");
    }
}

async fn a23_a_burst_is_429_with_headers(database: Database) {
    let limits = [("AUTHORITY_RATE_LIMITS", "on"), ("AUTHORITY_RATE_READ_TEST_PER_SECOND", "2")];
    let (_authority, merchant) = Merchant::on_with(database, &limits, "bursts").await;
    let mut refused: Option<Reply> = None;
    // A burst of twice the rate passes; a machine that is slow enough to refill meanwhile lets some more through.
    for _ in 0..1_000 {
        let reply = merchant.api.get("/orders").await;
        assert_eq!(reply.header("ratelimit-policy"), Some("\"read\";q=2;w=1"));
        if reply.status != 200 {
            refused = Some(reply);
            break;
        }
    }
    let Some(reply) = refused else { panic!("a thousand reads in a row are more than two a second") };
    assert_eq!(reply.refused(429, "rate_limited")["status"], Value::from(429));
    assert_eq!(reply.header("retry-after"), Some("1"));
    assert!(reply.header("ratelimit").is_some_and(|standing| standing.starts_with("\"read\";r=0;t=")));
    // Writes have a bucket of their own.
    merchant.endpoint("https://hooks.example.com/", &["*"]).await;
}

async fn status(connection: &mut TcpStream) -> String {
    let mut line = [0; 12];
    connection.read_exact(&mut line).await.unwrap();
    String::from_utf8(line.to_vec()).unwrap()
}

/// A request whose body does not come is under way, and holds a connection that nobody else can have.
async fn a23_a_merchant_has_256_requests_under_way(database: Database) {
    let (authority, merchant) = Merchant::on(database, "busy").await;
    let other = Merchant::create(&authority, "other").await;
    let head = format!(
        "POST /v1/merchant/orders/ORD-1/shipments HTTP/1.1\r\nhost: a\r\nauthorization: Bearer {}\r\n\
         content-type: application/json\r\ncontent-length: 2\r\n\r\n{{",
        merchant.key
    );
    let mut connections = Vec::new();
    for _ in 0..=UNDER_WAY {
        let mut connection = TcpStream::connect(authority.merchant_address()).await.unwrap();
        connection.write_all(head.as_bytes()).await.unwrap();
        connections.push(connection);
    }
    // Whichever comes last is the one that is answered.
    let answers = connections.iter_mut().map(|connection| Box::pin(status(connection)));
    let (refused, last, _) = select_all(answers).await;
    assert_eq!(refused, "HTTP/1.1 429");
    connections.swap_remove(last);

    let reply = merchant.api.get("/webhook-endpoints").await;
    reply.refused(429, "rate_limited");
    assert_eq!(reply.header("retry-after"), Some("1"));
    other.api.get("/webhook-endpoints").await.expect(200);
    let mut done = connections.swap_remove(0);
    done.write_all(b"}").await.unwrap();
    assert_eq!(status(&mut done).await, "HTTP/1.1 404");
    merchant.api.get("/webhook-endpoints").await.expect(200);
}
