//! `GET /metrics` (contract 15.11).

use tests::{Merchant, Receiver, eventually};

/// The value of the sample that is written exactly so.
fn sample(text: &str, name: &str) -> Option<f64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))?;
    Some(line.parse().unwrap())
}

#[tokio::test]
async fn what_happens_is_counted_and_nobody_is_named() {
    let (authority, merchant) = Merchant::alone("counted-merchant").await;
    let receiver = Receiver::accepting().await;
    let endpoint = merchant.endpoint(&receiver.url("/counted-path"), &["*"]).await;
    let order = merchant.paid_order().await;
    merchant.order(&order).await;
    merchant.api.get("/orders/ORD-9").await.refused(404, "not_found");
    merchant.api.get("/no-such-route").await.refused(404, "route_not_found");
    authority.nothing_pending().await;

    let events = merchant.events().await.len() as f64;
    // What the database says is as old as a few seconds.
    let text = eventually("figures of after the deliveries", async || {
        let reply = authority.probe("/metrics").await;
        assert_eq!(reply.status, 200);
        assert_eq!(
            reply.header("content-type"),
            Some("application/openmetrics-text; version=1.0.0; charset=utf-8")
        );
        let text = reply.text().to_owned();
        (sample(&text, "authority_endpoints{state=\"healthy\"}") == Some(1.0)).then_some(text)
    })
    .await;
    let of_order = "api=\"merchant-api\",method=\"GET\",route=\"/v1/merchant/orders/{order}\"";
    for (name, value) in [
        (format!("authority_http_requests_total{{{of_order},status=\"200\"}}"), 1.0),
        (format!("authority_http_requests_total{{{of_order},status=\"404\"}}"), 1.0),
        (format!("authority_http_request_seconds_count{{{of_order}}}"), 2.0),
        (
            "authority_http_requests_total{api=\"merchant-api\",method=\"GET\",route=\"other\",status=\"404\"}".into(),
            1.0,
        ),
        ("authority_events_committed_total".into(), events),
        ("authority_delivery_attempts_total{class=\"success\"}".into(), events),
        ("authority_delivery_attempt_seconds_count".into(), events),
        ("authority_delivery_first_attempt_wait_seconds_count".into(), events),
        ("authority_database_up".into(), 1.0),
        ("authority_deliveries_pending{state=\"due\"}".into(), 0.0),
        ("authority_deliveries_pending{state=\"scheduled\"}".into(), 0.0),
        ("authority_deliveries_pending{state=\"leased\"}".into(), 0.0),
        ("authority_oldest_due_delivery_age_seconds".into(), 0.0),
    ] {
        assert_eq!(sample(&text, &name), Some(value), "{name} in\n{text}");
    }
    assert!(
        sample(&text, "authority_database_connections{pool=\"records\",state=\"limit\"}").unwrap() >= 1.0
    );
    assert!(text.ends_with("# EOF\n"));
    let names =
        [&merchant.id, &merchant.key, &order, &endpoint.id, "counted-merchant", "counted-path", "ORD-9"];
    for name in names {
        assert!(!text.contains(name), "{name} in\n{text}");
    }
    // Not to be had from outside.
    merchant.api.get("/metrics").await.refused(404, "route_not_found");
}
