//! A23: how much a page holds, and how much of what was answered may wait to be read (contract 18.2).

use serde_json::{Value, json};
use tests::partners::{connect, share_with};
use tests::{Api, Database, Merchant, Reply, on_every_database, rows, text};
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpSocket;

on_every_database!(
    a23_a_page_ends_at_its_bytes_on_every_list,
    a23_answers_that_nobody_reads_are_bounded,
    a23_a_filtered_page_resumes_where_its_walk_ended,
);

const PAGE: usize = 4 * 1024 * 1024;
const ORDERS: usize = 30;

/// An order of some 170 KiB: its page has room for 24 of them.
async fn take_in(merchant: &Merchant) -> String {
    let metadata = json!({ "a": "x".repeat(500), "b": "x".repeat(500), "c": "x".repeat(400) });
    let line = json!({ "name": "T-shirt", "quantity": 1, "unit_amount": 100, "metadata": metadata });
    let body = json!({ "source": "pos", "currency": "USD", "line_items": vec![line; 100] });
    let made = merchant.operator.post(&merchant.platform_path("orders"), &body).await.expect(201);
    text(&made, "order_number")
}

/// Goes through a list a hundred rows at a time; the pages, each of which has room for what is on it and no more.
async fn walk(api: &Api, list: &str) -> Vec<Vec<Value>> {
    let between = if list.contains('?') { '&' } else { '?' };
    let (mut pages, mut cursor) = (Vec::new(), String::new());
    loop {
        let reply: Reply = api.get(&format!("{list}{between}limit=100&cursor={cursor}")).await;
        let size = reply.text().len();
        let page = reply.expect(200);
        let on_it = rows(&page).to_vec();
        assert!((1..=PAGE + 1024).contains(&size) && !on_it.is_empty(), "{list}: {size}");
        pages.push(on_it);
        match page["next_cursor"].as_str() {
            Some(next) => {
                // Nothing that had room was left for the next page.
                assert!(size > PAGE - 400 * 1024, "{list}: a page of {size} ends early");
                cursor = next.to_owned();
            }
            None => return pages,
        }
    }
}

async fn a23_a_page_ends_at_its_bytes_on_every_list(database: Database) {
    let (authority, merchant) = Merchant::on(database, "heavy").await;
    let partner = Merchant::create(&authority, "reader").await;
    let connection = connect(&merchant, &partner).await;
    let mut numbers = Vec::new();
    for _ in 0..ORDERS {
        numbers.push(take_in(&merchant).await);
    }
    let newest_first: Vec<String> = numbers.iter().rev().cloned().collect();
    let of = |pages: &[Vec<Value>], pointer: &str| -> Vec<String> {
        let numbers = pages.iter().flatten().filter_map(|row| row.pointer(pointer)?.as_str());
        numbers.map(str::to_owned).collect()
    };
    let events = walk(&merchant.api, "/events").await;
    let orders = walk(&merchant.api, "/orders").await;
    let feed = walk(&merchant.api, "/sync/orders").await;
    assert_eq!([events.len(), orders.len(), feed.len()], [2, 2, 2]);
    let told = of(&events, "/data/object/order_number");
    assert_eq!((told, of(&orders, "/order_number")), (numbers.clone(), newest_first.clone()));
    assert_eq!(of(&feed, "/order_number"), numbers);

    let stream = format!("/events?merchant={}&mode=test", merchant.id);
    for list in ["/events", stream.as_str()] {
        let pages = walk(&merchant.operator, list).await;
        assert_eq!(
            (pages.len(), of(&pages, "/data/object/order_number")),
            (2, newest_first.clone()),
            "{list}"
        );
    }

    // What a partner reads is smaller than what is read for it: the pages are short, and none of it is missed.
    for number in &numbers {
        let terms = json!({ "connection_id": connection, "include_amounts": true, "include_customer": true });
        share_with(&merchant, number, &terms).await;
    }
    let mut seen = Vec::new();
    let mut cursor = String::new();
    loop {
        let page = partner.api.get(&format!("/partner-orders?limit=100&cursor={cursor}")).await.expect(200);
        seen.extend(of(&[rows(&page).to_vec()], "/order/order_number"));
        match page["next_cursor"].as_str() {
            Some(next) => cursor = next.to_owned(),
            None => break,
        }
    }
    assert_eq!(seen, newest_first);
}

/// A key that asks and never reads gets its 32 MiB and 429 from then on; others are served, and when its connections
/// have ended so is it.
async fn a23_answers_that_nobody_reads_are_bounded(database: Database) {
    let (authority, merchant) = Merchant::on(database, "deaf").await;
    let other = Merchant::create(&authority, "listens").await;
    let number = other.paid_order().await;
    for _ in 0..ORDERS {
        take_in(&merchant).await;
    }
    let mut unread = Vec::new();
    for _ in 0..40 {
        // What the system keeps for this side is not the authority's.
        let socket = TcpSocket::new_v4().unwrap();
        socket.set_recv_buffer_size(4 * 1024).unwrap();
        let mut connection = socket.connect(authority.merchant_address().parse().unwrap()).await.unwrap();
        let ask = format!(
            "GET /v1/merchant/events?limit=100 HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {}\r\n\r\n",
            merchant.key
        );
        connection.write_all(ask.as_bytes()).await.unwrap();
        unread.push(connection);
    }
    // What is left has no room for a page of 4 MiB; a single event still has it.
    let refused = loop {
        let reply = merchant.api.get("/events?limit=100").await;
        if reply.status != 200 {
            break reply;
        }
    };
    refused.refused(429, "rate_limited");
    assert_eq!(refused.header("retry-after"), Some("1"));
    assert_eq!(text(&other.order(&number).await, "order_number"), number);
    assert_eq!(walk(&other.api, "/events").await.len(), 1);
    let by_operator = merchant.operator.get(&format!("/events?merchant={}&mode=test", merchant.id)).await;
    assert_eq!(by_operator.status, 200, "another credential");
    drop(unread);
    loop {
        let reply = merchant.api.get("/events?limit=100").await;
        match reply.status {
            429 => tokio::task::yield_now().await,
            status => break assert_eq!(status, 200),
        }
    }
}

/// Whoever follows one kind of event does not look at the others again and again, and does not fall behind what is
/// kept.
async fn a23_a_filtered_page_resumes_where_its_walk_ended(database: Database) {
    let (authority, merchant) = Merchant::on(database, "picky").await;
    // Six events, the first of which opens a checkout; nothing is shipped.
    merchant.paid_order().await;
    let resume = async |query: &str| {
        let page = merchant.api.get(&format!("/events?{query}")).await.expect(200);
        assert_eq!(page.get("next_cursor").is_some(), query.contains("limit"), "{query}");
        text(&page, "resume_cursor")
    };
    let behind = async |query: &str, cursor: &str| -> Vec<u64> {
        let page = merchant.api.get(&format!("/events?{query}&cursor={cursor}")).await.expect(200);
        let events = rows(&page).iter();
        events.map(|event| event["sequence"].as_u64().unwrap()).collect()
    };
    let (shipped, opened) = ("type=order.shipped", "type=checkout.created");
    let (none_shipped, all_opened) = (resume(shipped).await, resume(opened).await);
    // A page that is full ends at its last match.
    let first_payment = resume("type=payment.*&limit=1").await;
    assert_eq!(behind("type=payment.*", &first_payment).await, [5]);
    merchant.paid_order().await;
    authority.forget_events(&merchant.id, 6).await;
    assert_eq!(behind(opened, &all_opened).await, [7]);
    assert_eq!(behind(shipped, &none_shipped).await, [0_u64; 0]);
}
