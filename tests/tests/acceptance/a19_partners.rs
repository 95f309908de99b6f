//! A19: the partner flow: invite, accept, share, the filtered view (no amounts, no e-mail by default), events in both
//! streams, revoke, then 404 and silence (contract 2.14, 3.10, 4.14).

use http::Method;
use serde_json::{Value, json};
use tests::partners::{connect, disconnect, seen, share, share_with, unshare};
use tests::schemas::Promise;
use tests::webhooks::Webhooks;
use tests::{Authority, Database, Merchant, Receiver, SCOPES, has, on_every_database, rows, text, texts};

on_every_database!(
    a19_partners_share_an_order_and_part,
    a19_a_code_works_once_and_for_one_other,
    a19_a_connection_ends_with_all_its_shares,
    a19_modes_and_closed_merchants_are_apart
);

/// What of events matters here: type, version, and whose record it is.
fn told(events: &[Value]) -> Vec<(String, i64, String)> {
    events
        .iter()
        .map(|event| {
            let version = event["resource_version"].as_i64().unwrap();
            (text(event, "type"), version, text(&event["merchant"], "slug"))
        })
        .collect()
}

fn line(name: &str, version: i64) -> (String, i64, String) {
    (name.to_owned(), version, "owner".to_owned())
}

async fn a19_partners_share_an_order_and_part(database: Database) {
    let authority = Authority::on(database, &[]).await;
    let receiver = Receiver::accepting().await;
    let owner = Merchant::create(&authority, "owner").await;
    let partner = Merchant::create(&authority, "partner").await;
    partner.endpoint(&receiver.url("/hook"), &["order.*", "shipment.*"]).await;
    let mut promise = Promise::default();
    let connection = connect(&owner, &partner).await;
    let number = owner.paid_order().await;
    let before = owner.events().await.len();

    let made = share_with(&owner, &number, &json!({ "connection_id": connection })).await;
    promise.keeps_record("OrderShare", &made);
    let id = text(&made, "id");
    assert_eq!((&made["owner"]["slug"], &made["partner"]["slug"]), (&json!("owner"), &json!("partner")));
    assert_eq!(made["permissions"], json!(["read"]));

    // The filtered view: neither money nor what the customer is reached by.
    let view = partner.api.get(&seen(&id)).await.expect(200);
    promise.keeps_record("PartnerOrder", &view);
    let (order, whole) = (&view["order"], owner.order(&number).await);
    for name in ["order_number", "status", "payment_status", "fulfillment_status", "resource_version"] {
        assert_eq!(order[name], whole[name], "{name}");
    }
    for name in [
        "amounts",
        "payment_summary",
        "payment_ids",
        "checkout_id",
        "external_references",
        "metadata",
        "source",
    ] {
        assert_eq!(order.get(name), None, "{name}");
    }
    let line_members: Vec<&String> = order["line_items"][0].as_object().unwrap().keys().collect();
    let expected =
        ["delivered_quantity", "fulfilled_quantity", "id", "name", "quantity", "shipped_quantity", "sku"];
    let mut line_members: Vec<&str> = line_members.into_iter().map(String::as_str).collect();
    line_members.sort_unstable();
    assert_eq!(line_members, expected);
    assert!(!view.to_string().contains('@'), "{view}");
    assert_eq!(view["share"], made);

    // What happens to the order is told to both, each in its own stream; what happens to its payments is not.
    let parcel = json!({ "carrier": "dhl", "metadata": { "bay": "secret-7" } });
    let parcel = owner.ship(&number, &parcel).await;
    owner.refund(&number, &json!({ "amount": 100 })).await;
    let copies = partner.events().await;
    let versions = [
        line("order.shared", 2),
        line("shipment.created", 1),
        line("order.shipped", 3),
        line("order.updated", 4),
    ];
    assert_eq!(told(&copies), versions);
    copies.iter().for_each(|event| promise.keeps_copy(event));
    for (sequence, event) in (1..).zip(&copies) {
        assert_eq!(event["sequence"], sequence);
        let expected = json!({
            "type": "partner", "merchant": { "id": partner.id, "slug": "partner" }, "connection_id": connection,
            "share_id": id, "permissions": ["read"],
        });
        assert_eq!(event["recipient"], expected);
        assert_eq!(event["links"]["resource"], format!("/v1/merchant{}", seen(&id)));
        assert_eq!(&partner.api.get(&format!("/events/{}", text(event, "id"))).await.expect(200), event);
    }
    assert_eq!(copies[0]["data"]["share"], made);
    assert_eq!(copies[0]["data"]["object"], *order);
    assert_eq!(copies[1]["data"]["object"]["id"], parcel["id"]);
    assert!(!Value::from(copies.clone()).to_string().contains("secret-7"));
    let events = owner.events().await;
    let own: Vec<&Value> = events[before..].iter().collect();
    has(own[0], json!({ "type": "order.shared", "recipient": copies[0]["recipient"] }));
    assert_eq!((&own[0]["data"]["share"], &own[0]["data"]["object"]), (&made, &whole));
    assert!(own[1..].iter().all(|event| event.get("recipient").is_none()));
    assert!(events.iter().all(|event| copies.iter().all(|copy| copy["id"] != event["id"])));
    let arrived = receiver.until("four copies", |arrivals| arrivals.accepted("/hook") == 4).await;
    assert_eq!(
        arrived.types_at("/hook"),
        ["order.shared", "shipment.created", "order.shipped", "order.updated"]
    );

    // Taken back: the last event, then 404 and silence.
    let ended = unshare(&owner, &id).await;
    assert_eq!((&ended["status"], &ended["resource_version"]), (&json!("revoked"), &json!(2)));
    partner.api.get(&seen(&id)).await.refused(404, "not_found");
    assert_eq!(partner.api.get("/partner-orders").await.expect(200)["data"], json!([]));
    owner.note(&number, "unheard").await;
    let copies = partner.events().await;
    assert_eq!(told(&copies[4..]), [line("order.share_revoked", 4)]);
    assert_eq!(copies[4]["data"]["share"], ended);
    let arrived = receiver.until("the end", |arrivals| arrivals.accepted("/hook") == 5).await;
    let mut webhooks = Webhooks::described_by(&authority).await;
    arrived.at("/hook").for_each(|arrival| webhooks.promised(arrival));
    assert_eq!(unshare(&owner, &id).await, ended);
    let again = text(
        &share_with(
            &owner,
            &number,
            &json!({
                "connection_id": connection, "include_amounts": true, "include_customer": true
            }),
        )
        .await,
        "id",
    );
    assert_ne!(again, id);
    let view = partner.api.get(&seen(&again)).await.expect(200);
    assert_eq!(view["order"]["amounts"], owner.order(&number).await["amounts"]);
    promise.keeps_record("PartnerOrder", &view);
    authority.is_sound().await;
}

async fn a19_a_code_works_once_and_for_one_other(database: Database) {
    let (authority, owner) = Merchant::on(database, "owner").await;
    let partner = Merchant::create(&authority, "partner").await;
    let third = Merchant::create(&authority, "third").await;
    let invited = owner.api.post_as("invite", "/partner-connections", &json!({ "label": "Acme" })).await;
    let reply = owner.api.post_as("invite", "/partner-connections", &json!({ "label": "Acme" })).await;
    assert_eq!(reply.header("idempotent-replayed"), Some("true"));
    let invited = invited.expect(201);
    assert_eq!(reply.expect(201), invited);
    let code = text(&invited, "invite_code");
    let accept = async |who: &Merchant, code: &str| {
        let body = json!({ "invite_code": code, "label": "mine" });
        who.api.post("/partner-connections/accept", &body).await
    };
    let own = accept(&owner, &code).await;
    own.refused(404, "not_found");
    let live =
        Merchant { api: authority.merchant(&partner.issue_key("live", &SCOPES).await), ..partner.clone() };
    let unknown = "inv_01k3zqa7000000000000000000";
    for wrong in
        [accept(&live, &code).await, accept(&partner, unknown).await, accept(&partner, "guess").await]
    {
        let (mut one, mut other) = (wrong.refused(404, "not_found"), own.json());
        one["request_id"] = Value::Null;
        other["request_id"] = Value::Null;
        assert_eq!(one, other);
    }
    let accepted = accept(&partner, &code).await.expect(200);
    assert_eq!((&accepted["direction"], &accepted["label"]), (&json!("incoming"), &json!("mine")));
    accept(&third, &code).await.refused(404, "not_found");
    accept(&partner, &code).await.refused(404, "not_found");

    let id = text(&invited, "id");
    let path = format!("/partner-connections/{id}");
    let seen = owner.api.get(&path).await.expect(200);
    assert_eq!((&seen["direction"], &seen["label"]), (&json!("outgoing"), &json!("Acme")));
    assert_eq!(seen.get("invite_code"), None);
    assert_eq!(partner.api.get(&path).await.expect(200), accepted);
    third.api.get(&path).await.refused(404, "not_found");
    let listed = async |who: &Merchant, filter: &str| {
        let page = who.api.get(&format!("/partner-connections{filter}")).await.expect(200);
        let ids = rows(&page).iter().map(|found| text(found, "id"));
        ids.collect::<Vec<_>>()
    };
    let taken_back = owner.api.post("/partner-connections", &json!({})).await.expect(201);
    disconnect(&owner, &text(&taken_back, "id")).await;
    accept(&third, &text(&taken_back, "invite_code")).await.refused(404, "not_found");
    let newest = text(&taken_back, "id");
    assert_eq!(listed(&owner, "").await, [newest.clone(), id.clone()]);
    assert_eq!(listed(&owner, "?status=active&direction=outgoing").await, std::slice::from_ref(&id));
    assert_eq!(listed(&owner, "?status=revoked,pending").await, [newest]);
    assert_eq!(listed(&owner, "?direction=incoming").await, Vec::<String>::new());
    assert_eq!(listed(&partner, "?direction=incoming").await, [id]);
    assert_eq!(listed(&third, "").await, Vec::<String>::new());
    owner.api.get("/partner-connections?status=gone").await.refused(400, "invalid_parameter");
}

async fn a19_a_connection_ends_with_all_its_shares(database: Database) {
    let (authority, owner) = Merchant::on(database, "owner").await;
    let partner = Merchant::create(&authority, "partner").await;
    let connection = connect(&owner, &partner).await;
    let (one, other) = (owner.paid_order().await, owner.paid_order().await);
    let shares = [share(&owner, &one, &connection).await, share(&owner, &other, &connection).await];
    // Sharing goes both ways.
    let theirs = partner.paid_order().await;
    let back = share(&partner, &theirs, &connection).await;
    owner.api.get(&seen(&back)).await.expect(200);
    let page = partner.api.get("/partner-orders?limit=1").await.expect(200);
    assert_eq!(page["data"][0]["share"]["id"], shares[1]);
    let next = format!("/partner-orders?limit=1&cursor={}", text(&page, "next_cursor"));
    let page = partner.api.get(&next).await.expect(200);
    assert_eq!((&page["data"][0]["share"]["id"], page.get("next_cursor")), (&json!(shares[0]), None));
    let found = partner.api.get(&format!("/partner-orders?order_number={one}")).await.expect(200);
    assert_eq!(rows(&found).len(), 1);

    let known = (owner.events().await.len(), partner.events().await.len());
    let ended = disconnect(&partner, &connection).await;
    assert_eq!(ended["status"], "revoked");
    assert_eq!(disconnect(&owner, &connection).await["revoked_at"], ended["revoked_at"]);
    let types = |events: Vec<Value>| texts(&events, "type");
    let revoked = ["order.share_revoked"; 3];
    assert_eq!(types(owner.events().await.split_off(known.0)), revoked);
    assert_eq!(types(partner.events().await.split_off(known.1)), revoked);
    for share in &shares {
        partner.api.get(&seen(share)).await.refused(404, "not_found");
    }
    owner.api.get(&seen(&back)).await.refused(404, "not_found");
    let listed = owner.api.get("/order-shares?status=revoked").await.expect(200);
    assert_eq!(rows(&listed).len(), 2);
    assert_eq!(owner.api.get("/order-shares?status=active").await.expect(200)["data"], json!([]));
    owner.note(&one, "unheard").await;
    assert_eq!(partner.events().await.len(), known.1 + 3);
    authority.is_sound().await;
}

async fn a19_modes_and_closed_merchants_are_apart(database: Database) {
    let (authority, owner) = Merchant::on(database, "owner").await;
    let partner = Merchant::create(&authority, "partner").await;
    let connection = connect(&owner, &partner).await;
    let live = authority.merchant(&owner.issue_key("live", &SCOPES).await);
    live.get(&format!("/partner-connections/{connection}")).await.refused(404, "not_found");
    assert_eq!(live.get("/partner-connections").await.expect(200)["data"], json!([]));
    let number = owner.paid_order().await;
    let id = share(&owner, &number, &connection).await;

    // Suspended: reads on. Its invitations do not work meanwhile.
    let status = async |who: &Merchant, status: &str| {
        let path = format!("/merchants/{}", who.id);
        let call = who.operator.call(Method::PATCH, &path).json(&json!({ "status": status }));
        call.send().await.expect(200);
    };
    let invited = partner.api.post("/partner-connections", &json!({})).await.expect(201);
    let third = Merchant::create(&authority, "third").await;
    let body = json!({ "invite_code": invited["invite_code"] });
    status(&partner, "suspended").await;
    partner.api.get(&seen(&id)).await.expect(200);
    third.api.post("/partner-connections/accept", &body).await.refused(404, "not_found");
    status(&partner, "active").await;
    third.api.post("/partner-connections/accept", &body).await.expect(200);

    // Closed: all of its connections end.
    status(&partner, "closed").await;
    let ended = owner.api.get(&format!("/partner-connections/{connection}")).await.expect(200);
    assert_eq!(ended["status"], "revoked");
    let listed = owner.api.get("/order-shares").await.expect(200);
    assert_eq!(listed["data"][0]["status"], "revoked");
    owner.note(&number, "unheard").await;
    // The end is told by itself.
    tests::eventually("order.share_revoked", async || {
        let events = owner.events().await;
        events.iter().any(|event| event["type"] == "order.share_revoked").then_some(())
    })
    .await;
    authority.is_sound().await;
}
