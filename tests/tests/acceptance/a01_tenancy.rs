//! A1: nobody sees, changes or infers what belongs to another merchant or to the other mode (contract 1).
//!
//! Everything that a foreign key gets is compared with what it gets for a record that never was: status, body but for
//! the request id, and headers but for that id and the date.

use http::Method;
use serde_json::{Value, json};
use tests::{
    Api, Authority, Database, Merchant, Receiver, Reply, SCOPES, checkout_body, on_every_database, partners,
    shipments, text,
};

on_every_database!(
    a01_another_merchant_and_the_other_mode_see_nothing,
    a01_the_same_names_do_not_meet,
    a01_the_platform_is_held_to_the_merchant_it_names,
    a01_keys_open_their_own_root_only
);

/// One of each record, of one merchant and one mode: path to read it, and the same with a record that never was.
struct Records {
    reads: Vec<(String, String)>,
    writes: Vec<(String, String, Value)>,
    changes: Vec<(Method, String, String, Value)>,
}

fn reference(order: &str) -> String {
    format!("/orders/{order}/external-references/erp")
}

const NEVER: &str = "01k3zqa7000000000000000000";

async fn records(merchant: &Merchant, partner: &Merchant, receiver: &Receiver) -> Records {
    let endpoint = merchant.endpoint(&receiver.url("/hook"), &["*"]).await;
    let number = merchant.paid_order().await;
    let shipment = merchant.ship(&number, &json!({ "carrier": "dhl" })).await;
    let payment = merchant.order(&number).await["payment_ids"][0].as_str().unwrap().to_owned();
    let refund = merchant.refund(&number, &json!({ "amount": 1 })).await;
    let named = merchant.api.call(Method::PUT, &reference(&number)).json(&json!({ "id": "SO-1" }));
    named.send().await.expect(200);
    let feed = merchant.api.get("/events").await.expect(200);
    let seen = json!({ "name": "projection", "cursor": feed["resume_cursor"] });
    merchant.api.post("/sync/checkpoints", &seen).await.expect(200);
    let subscription = merchant.subscription().await;
    let connection = partners::connect(merchant, partner).await;
    let share = partners::share(merchant, &number, &connection).await;
    let theirs = partners::share(partner, &partner.paid_order().await, &connection).await;
    let event = text(&merchant.events().await[0], "id");
    let deliveries = merchant.api.get(&endpoint.path("/deliveries")).await.expect(200);
    let endpoint_path = endpoint.path("");
    let no_endpoint = format!("/webhook-endpoints/we_{NEVER}");
    let under =
        |what: &str, body: Value| (format!("{endpoint_path}/{what}"), format!("{no_endpoint}/{what}"), body);
    let pair = |collection: &str, id: &str, never: &str| {
        (format!("/{collection}/{id}"), format!("/{collection}/{never}"))
    };
    Records {
        reads: vec![
            pair("orders", &number, "ORD-999999"),
            pair("payments", &payment, &format!("pay_{NEVER}")),
            pair("shipments", &text(&shipment, "id"), &format!("shp_{NEVER}")),
            pair("refunds", &text(&refund, "id"), &format!("rfd_{NEVER}")),
            pair("subscriptions", &text(&subscription, "id"), &format!("sub_{NEVER}")),
            pair("deliveries", &text(&deliveries["data"][0], "id"), &format!("dlv_{NEVER}")),
            (shipments(&number), shipments("ORD-999999")),
            (format!("{endpoint_path}/deliveries"), format!("{no_endpoint}/deliveries")),
            pair("events", &event, &format!("evt_{NEVER}")),
            pair("webhook-endpoints", &endpoint.id, &format!("we_{NEVER}")),
            pair("partner-connections", &connection, &format!("pcn_{NEVER}")),
            pair("partner-orders", &theirs, &format!("osh_{NEVER}")),
        ],
        writes: vec![
            (shipments(&number), shipments("ORD-999999"), json!({ "carrier": "ups" })),
            (format!("/orders/{number}/refunds"), "/orders/ORD-999999/refunds".to_owned(), json!({})),
            (format!("/events/{event}/replay"), format!("/events/evt_{NEVER}/replay"), json!({})),
            (
                format!("/orders/{number}/shares"),
                "/orders/ORD-999999/shares".to_owned(),
                json!({ "connection_id": connection }),
            ),
            (format!("/order-shares/{share}/revoke"), format!("/order-shares/osh_{NEVER}/revoke"), json!({})),
            (
                format!("/partner-connections/{connection}/revoke"),
                format!("/partner-connections/pcn_{NEVER}/revoke"),
                json!({}),
            ),
            under("test", json!({})),
            under("rotate-secret", json!({})),
            under("retire-secret", json!({})),
        ],
        changes: vec![
            (
                Method::PATCH,
                format!("/orders/{number}/fulfillment"),
                "/orders/ORD-999999/fulfillment".to_owned(),
                json!({ "note": "x" }),
            ),
            (Method::PUT, reference(&number), reference("ORD-999999"), json!({ "id": "SO-1" })),
            (Method::DELETE, reference(&number), reference("ORD-999999"), json!({})),
            (Method::PATCH, endpoint_path.clone(), no_endpoint.clone(), json!({ "description": "x" })),
            (Method::DELETE, endpoint_path, no_endpoint, json!({})),
        ],
    }
}

/// Everything that must not differ between a foreign record and one that never was.
fn shown(reply: &Reply) -> (u16, Value, Vec<(String, String)>) {
    let mut body = reply.json();
    body["request_id"] = Value::Null;
    let mut headers: Vec<_> = reply
        .headers
        .iter()
        .filter(|(name, _)| !["service-request-id", "date"].contains(&name.as_str()))
        .map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned()))
        .collect();
    headers.sort();
    (reply.status, body, headers)
}

async fn sees_nothing(stranger: &Api, records: &Records) {
    for (path, never) in &records.reads {
        let (one, other) = (stranger.get(path).await, stranger.get(never).await);
        one.refused(404, "not_found");
        assert_eq!(shown(&one), shown(&other), "{path}");
    }
    for (path, never, body) in &records.writes {
        let (one, other) = (stranger.post(path, body).await, stranger.post(never, body).await);
        one.refused(404, "not_found");
        assert_eq!(shown(&one), shown(&other), "{path}");
    }
    for (method, path, never, body) in &records.changes {
        let ask = async |path: &str| stranger.call(method.clone(), path).json(body).send().await;
        let (one, other) = (ask(path).await, ask(never).await);
        one.refused(404, "not_found");
        assert_eq!(shown(&one), shown(&other), "{method} {path}");
    }
    let named = "/orders?external_system=erp&external_id=SO-1";
    for list in [
        "/orders",
        "/payments",
        "/refunds",
        "/subscriptions",
        "/events",
        "/webhook-endpoints",
        "/sync/orders",
        "/sync/checkpoints",
        named,
        "/partner-connections",
        "/order-shares",
        "/partner-orders",
    ] {
        assert_eq!(stranger.get(list).await.expect(200)["data"], json!([]), "{list}");
    }
    assert_eq!(stranger.get("/integration-health").await.expect(200)["checkpoints"], json!([]));
}

async fn a01_another_merchant_and_the_other_mode_see_nothing(database: Database) {
    let authority = Authority::on(database, &[]).await;
    let receiver = Receiver::accepting().await;
    let owner = Merchant::create(&authority, "owner").await;
    let partner = Merchant::create(&authority, "partner").await;
    let records = records(&owner, &partner, &receiver).await;
    for (path, _) in &records.reads {
        owner.api.get(path).await.expect(200);
    }
    let events = owner.events().await;

    let stranger = Merchant::create(&authority, "stranger").await;
    sees_nothing(&stranger.api, &records).await;
    let live = authority.merchant(&owner.issue_key("live", &SCOPES).await);
    sees_nothing(&live, &records).await;
    assert_eq!(owner.events().await, events);
}

/// One counter of order numbers, one set of idempotency keys, per merchant and mode.
async fn a01_the_same_names_do_not_meet(database: Database) {
    let authority = Authority::on(database, &[]).await;
    let (one, other) =
        (Merchant::create(&authority, "one").await, Merchant::create(&authority, "other").await);
    assert_eq!(
        (one.paid_order().await, other.paid_order().await),
        ("ORD-100001".into(), "ORD-100001".into())
    );
    let body = json!({ "url": "https://hooks.example.com/" });
    let live = authority.merchant(&one.issue_key("live", &SCOPES).await);
    let mut made = Vec::new();
    for api in [&one.api, &other.api, &live] {
        made.push(text(&api.post_as("same-key", "/webhook-endpoints", &body).await.expect(201), "id"));
    }
    made.sort();
    made.dedup();
    assert_eq!(made.len(), 3);
}

/// A merchant's data cannot be reached through another merchant's path on the operator root.
async fn a01_the_platform_is_held_to_the_merchant_it_names(database: Database) {
    let authority = Authority::on(database, &[]).await;
    let (one, other) =
        (Merchant::create(&authority, "one").await, Merchant::create(&authority, "other").await);
    let checkout = one.checkout().await;
    let body = tests::payment_body(&checkout, "automatic", "elsewhere");
    let errors = |reply: &Reply| {
        let error = &reply.refused(422, "validation_failed")["errors"][0];
        json!([error["pointer"], error["code"]])
    };
    let unknown = json!(["/checkout_id", "unknown_reference"]);
    let reply = one.operator.post(&other.platform_path("payments"), &body).await;
    assert_eq!(errors(&reply), unknown);
    let live = format!("/merchants/{}/live/payments", one.id);
    assert_eq!(errors(&one.operator.post(&live, &body).await), unknown);
    for path in [
        format!("/merchants/mer_{NEVER}/test/checkouts"),
        format!("/merchants/{}/staging/checkouts", one.id),
        format!("/merchants/{}/Test/checkouts", one.id),
    ] {
        one.operator.post(&path, &checkout_body()).await.refused(404, "not_found");
    }
    assert_eq!((one.events().await.len(), other.events().await.len()), (1, 0));

    // The processor's event id is taken for ever, for this merchant and mode (contract 18.3-4).
    one.operator.post(&one.platform_path("payments"), &body).await.expect(201);
    let again = tests::payment_body(&one.checkout().await, "automatic", "elsewhere");
    let reply = one.operator.post(&one.platform_path("payments"), &again).await;
    assert_eq!(errors(&reply), json!(["/processor_event_id", "duplicate"]));
    let foreign = tests::payment_body(&other.checkout().await, "automatic", "elsewhere");
    one.operator.post(&other.platform_path("payments"), &foreign).await.expect(201);
}

/// Each root takes its own keys only (contract 6.1).
async fn a01_keys_open_their_own_root_only(database: Database) {
    let (authority, merchant) = Merchant::on(database, "roots").await;
    let with_operator_key = authority.merchant(authority.operator_key());
    let reply = with_operator_key.get("/orders").await;
    reply.refused(401, "invalid_api_key");
    assert_eq!(
        reply.header("www-authenticate"),
        Some("Bearer realm=\"merchant-api\", error=\"invalid_token\"")
    );
    for key in [merchant.key.clone(), merchant.issue_key("live", &SCOPES).await] {
        let operator = authority.operator().with_key(Some(&key));
        let reply = operator.post(&merchant.platform_path("checkouts"), &checkout_body()).await;
        reply.refused(401, "invalid_api_key");
        let challenge = "Bearer realm=\"operator-api\", error=\"invalid_token\"";
        assert_eq!(reply.header("www-authenticate"), Some(challenge));
    }
    // Neither root is served by the other's listener.
    let elsewhere = authority.probe("/v1/merchant/orders").await;
    elsewhere.refused(404, "route_not_found");
    let operator_path = merchant.api.call(Method::GET, "/../operator/merchants").send().await;
    operator_path.refused(404, "route_not_found");
    assert_eq!(authority.probe("/healthz").await.status, 200);
    assert_eq!(authority.probe("/readyz").await.status, 200);
    assert_eq!(merchant.events().await, Vec::<Value>::new());
}
