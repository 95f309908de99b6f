//! To whom deliveries go (contract 7). What is sent and when is A12, tests are A17, slow receivers are fault C.

use serde_json::{Value, json};
use tests::{Merchant, Receiver, texts};

/// What other programs take for their proxy is not ours: nobody listens there.
#[tokio::test]
async fn proxies_of_other_programs_are_not_ours() {
    let proxies = ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"];
    let (authority, merchant) =
        Merchant::alone_with(&proxies.map(|name| (name, "http://127.0.0.1:1")), "direct").await;
    let receiver = Receiver::accepting().await;
    let endpoint = merchant.endpoint(&receiver.url("/hook"), &["*"]).await;
    merchant.checkout().await;
    authority.nothing_pending().await;
    assert_eq!(receiver.arrivals().accepted("/hook"), 1);
    let health = &merchant.endpoint_now(&endpoint).await["health"];
    assert_eq!((&health["state"], &health["consecutive_failures"]), (&json!("healthy"), &json!(0)));
    assert_eq!((&health["last_response_status"], &health["last_error"]), (&json!(200), &Value::Null));
}

/// Each endpoint gets the events that it names and that were made after it.
#[tokio::test]
async fn filters_choose_exactly() {
    let (authority, merchant) = Merchant::alone("choosy").await;
    let receiver = Receiver::accepting().await;
    let filters: [(&str, &[&str]); 4] = [
        ("/orders", &["order.*"]),
        ("/two", &["payment.succeeded", "checkout.completed"]),
        ("/all", &["*"]),
        ("/none", &["refund.*", "webhook.test"]),
    ];
    for (path, events) in filters {
        merchant.endpoint(&receiver.url(path), events).await;
    }
    let off = json!({ "url": receiver.url("/off"), "status": "disabled" });
    merchant.api.post("/webhook-endpoints", &off).await.expect(201);
    merchant.paid_order().await;
    let late = merchant.endpoint(&receiver.url("/late"), &["*"]).await;
    merchant.checkout().await;
    authority.nothing_pending().await;

    let arrivals = receiver.arrivals();
    let sorted = |path: &str| {
        let mut types = arrivals.types_at(path);
        types.sort();
        types
    };
    assert_eq!(sorted("/orders"), ["order.confirmed", "order.created"]);
    assert_eq!(sorted("/two"), ["checkout.completed", "payment.succeeded"]);
    let mut all = texts(&merchant.events().await, "type");
    all.sort();
    assert_eq!(sorted("/all"), all);
    assert_eq!(sorted("/late"), ["checkout.created"]);
    assert_eq!(arrivals.all.len(), 2 + 2 + 7 + 1);
    assert_eq!(merchant.endpoint_now(&late).await["health"]["state"], "healthy");
}
