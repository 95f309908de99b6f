//! What the merchant's systems call an order (contract 4.13).

use futures_util::future::join_all;
use http::Method;
use serde_json::{Value, json};
use tests::{Database, Merchant, SCOPES, on_both_databases, rows, texts};

use crate::sync::{remove, set, setting};

on_both_databases!(
    an_entry_is_set_changed_and_removed,
    a_name_belongs_to_one_order,
    of_many_orders_that_want_a_name_one_gets_it,
    versions_and_keys_are_honoured,
    twenty_systems_and_no_more,
    an_order_is_found_by_its_name,
    names_outlive_a_kill
);

async fn an_entry_is_set_changed_and_removed(database: Database) {
    let (authority, merchant) = Merchant::on(database, "named").await;
    let order = merchant.paid_order().await;
    let before = merchant.order(&order).await;
    assert_eq!(before["external_references"], json!([]));
    let reply = set(&merchant, &order, "wms", &json!({ "id": "W 1/ä" })).await;
    assert_eq!(reply.header("etag"), Some("\"3\""));
    let named = reply.expect(200);
    let at = &named["updated_at"];
    assert_eq!(
        named["external_references"],
        json!([{ "system": "wms", "id": "W 1/ä", "url": null, "updated_at": at }])
    );
    assert_eq!(named, merchant.order(&order).await);
    let mut unnamed = named.clone();
    for member in ["external_references", "resource_version", "updated_at"] {
        unnamed[member] = before[member].clone();
    }
    assert_eq!(unnamed, before, "nothing else has changed");

    let url = "https://erp.example.com/orders/1";
    let both = set(&merchant, &order, "erp", &json!({ "id": "SO-1", "url": url })).await.expect(200);
    let systems = texts(both["external_references"].as_array().unwrap(), "system");
    assert_eq!(
        (systems, &both["external_references"][0]["url"]),
        (vec!["erp".to_owned(), "wms".to_owned()], &json!(url))
    );
    // The same again tells nobody; without its url it is another entry.
    let again = set(&merchant, &order, "erp", &json!({ "url": url, "id": "SO-1" })).await;
    assert_eq!((again.header("etag"), again.expect(200)), (Some("\"4\""), both));
    let bare = set(&merchant, &order, "erp", &json!({ "id": "SO-1" })).await.expect(200);
    assert_eq!(
        (&bare["resource_version"], &bare["external_references"][0]["url"]),
        (&json!(5), &Value::Null)
    );
    let gone = remove(&merchant, &order, "wms").await.expect(200);
    assert_eq!(
        (&gone["resource_version"], gone["external_references"].as_array().unwrap().len()),
        (&json!(6), 1)
    );
    for absent in ["wms", "crm"] {
        let reply = remove(&merchant, &order, absent).await;
        assert_eq!((reply.header("etag"), reply.expect(200)), (Some("\"6\""), gone.clone()));
    }
    // Each change is one version and one event, which has the order as it was answered.
    let told = merchant.events_after(6).await;
    assert_eq!(told.iter().map(|told| told.event_type.as_str()).collect::<Vec<_>>(), ["order.updated"; 4]);
    assert_eq!(told.iter().filter_map(|told| told.version).collect::<Vec<_>>(), [3, 4, 5, 6]);
    assert_eq!(merchant.events().await[9]["data"]["object"], gone);
    // An order that has ended is still referred to.
    merchant.ship(&order, &json!({ "carrier": "dhl" })).await;
    let body = json!({ "fulfillment_status": "delivered" });
    let call = merchant.api.call(Method::PATCH, &format!("/orders/{order}/fulfillment")).json(&body);
    assert_eq!(call.send().await.expect(200)["status"], "completed");
    set(&merchant, &order, "crm", &json!({ "id": "7" })).await.expect(200);
    authority.is_sound().await;
}

async fn a_name_belongs_to_one_order(database: Database) {
    let (authority, merchant) = Merchant::on(database, "unique").await;
    let (one, two) = (merchant.paid_order().await, merchant.paid_order().await);
    let name = json!({ "id": "SO-1" });
    set(&merchant, &one, "erp", &name).await.expect(200);
    let events = merchant.events().await.len();
    let taken = set(&merchant, &two, "erp", &name).await;
    assert_eq!(taken.refused(409, "external_reference_conflict")["order_number"], one.as_str());
    assert_eq!(
        (merchant.events().await.len(), &merchant.order(&two).await["resource_version"]),
        (events, &json!(2))
    );
    // In another system, for another merchant and in the other mode it means something else.
    set(&merchant, &two, "wms", &name).await.expect(200);
    let other = Merchant::create(&authority, "elsewhere").await;
    let theirs = other.paid_order().await;
    assert_eq!(theirs, one);
    set(&other, &theirs, "erp", &name).await.expect(200);
    // A name that is given up, by another in its place or by removal, may be given again.
    set(&merchant, &one, "erp", &json!({ "id": "SO-2" })).await.expect(200);
    set(&merchant, &two, "erp", &name).await.expect(200);
    remove(&merchant, &two, "erp").await.expect(200);
    set(&merchant, &one, "erp", &name).await.expect(200);
    authority.is_sound().await;
}

async fn of_many_orders_that_want_a_name_one_gets_it(database: Database) {
    let (authority, merchant) = Merchant::on(database, "wanted").await;
    let orders = join_all((0..12).map(|_| merchant.paid_order())).await;
    for round in 0..3 {
        let name = json!({ "id": format!("SO-{round}") });
        let replies = join_all(orders.iter().map(|order| set(&merchant, order, "erp", &name))).await;
        let winners: Vec<_> = orders.iter().zip(&replies).filter(|(_, reply)| reply.status == 200).collect();
        assert_eq!(winners.len(), 1);
        for reply in replies.iter().filter(|reply| reply.status != 200) {
            assert_eq!(
                reply.refused(409, "external_reference_conflict")["order_number"],
                winners[0].0.as_str()
            );
        }
    }
    authority.is_sound().await;
}

async fn versions_and_keys_are_honoured(database: Database) {
    let (authority, merchant) = Merchant::on(database, "careful").await;
    let order = merchant.paid_order().await;
    let name = json!({ "id": "SO-1" });
    let stale = setting(&merchant, &order, "erp", &name).header("if-match", "1").send().await;
    assert_eq!(stale.refused(409, "resource_version_conflict")["current_version"], 2);
    let made =
        setting(&merchant, &order, "erp", &name).header("if-match", "\"2\"").header("idempotency-key", "k");
    let made = made.send().await;
    made.expect(200);
    // The answer that was lost is given again, whatever has become of the version.
    let again =
        setting(&merchant, &order, "erp", &name).header("if-match", "1").header("idempotency-key", "k");
    let again = again.send().await;
    assert_eq!(again.header("idempotent-replayed"), Some("true"));
    assert_eq!((again.expect(200), again.header("etag")), (made.expect(200), Some("\"3\"")));
    let other = setting(&merchant, &order, "wms", &name).header("idempotency-key", "k").send().await;
    other.refused(422, "idempotency_key_reused");
    let path = format!("/orders/{order}/external-references/erp");
    let delete = |version: &str| merchant.api.call(Method::DELETE, &path).header("if-match", version).send();
    delete("2").await.refused(409, "resource_version_conflict");
    delete("x").await.refused(400, "invalid_if_match");
    delete("*").await.expect(200);
    // What is not there is removed only from the version that was meant.
    delete("3").await.refused(409, "resource_version_conflict");
    let strict =
        Merchant::with_settings(&authority, "strict-names", json!({ "require_if_match": true })).await;
    let order = strict.paid_order().await;
    set(&strict, &order, "erp", &name).await.refused(428, "precondition_required");
    remove(&strict, &order, "erp").await.refused(428, "precondition_required");

    // The order of checks: the name of the system, the body's syntax, the order, its version, the members.
    let call = |order: &str, system: &str| {
        merchant.api.call(Method::PUT, &format!("/orders/{order}/external-references/{system}"))
    };
    let nonsense = |call: tests::Call| call.header("content-type", "application/json").bytes("{").send();
    for system in ["ERP", "-erp", "e.r.p", "%C3%A9", &"a".repeat(33)] {
        assert_eq!(
            nonsense(call("ORD-9", system)).await.refused(400, "invalid_parameter")["param"],
            "system"
        );
        remove(&merchant, "ORD-9", system).await.refused(400, "invalid_parameter");
    }
    nonsense(call("ORD-9", "erp")).await.refused(400, "invalid_json");
    call("ORD-9", "erp").send().await.refused(400, "body_required");
    call("ORD-9", "erp").json(&json!({})).send().await.refused(404, "not_found");
    remove(&merchant, "ORD-9", "erp").await.refused(404, "not_found");
    call("ORD-100001", "erp")
        .json(&json!({}))
        .header("if-match", "1")
        .send()
        .await
        .refused(409, "resource_version_conflict");
    let wrong =
        call("ORD-100001", "erp").json(&json!({ "url": "x" })).send().await.refused(422, "validation_failed");
    let pointers = texts(wrong["errors"].as_array().unwrap(), "pointer");
    assert_eq!(pointers, ["/id", "/url"]);
    for path in ["/orders/ORD-100001/external-references/erp", "/orders/ORD-100001/external-references/"] {
        let reply = merchant.api.get(path).await;
        assert!(matches!(reply.status, 404 | 405), "{path}: {}", reply.status);
    }
}

async fn twenty_systems_and_no_more(database: Database) {
    let (authority, merchant) = Merchant::on(database, "popular").await;
    let order = merchant.paid_order().await;
    for n in 0..20 {
        set(&merchant, &order, &format!("s{n}"), &json!({ "id": "1" })).await.expect(200);
    }
    let refused = set(&merchant, &order, "another", &json!({ "id": "1" })).await;
    assert_eq!(refused.refused(422, "validation_failed")["errors"][0]["code"], "too_long");
    set(&merchant, &order, "s7", &json!({ "id": "2" })).await.expect(200);
    remove(&merchant, &order, "s8").await.expect(200);
    let full = set(&merchant, &order, "another", &json!({ "id": "1" })).await.expect(200);
    assert_eq!(full["external_references"].as_array().unwrap().len(), 20);
    // What was refused has taken no name.
    let second = merchant.paid_order().await;
    set(&merchant, &second, "s8", &json!({ "id": "1" })).await.expect(200);
    authority.is_sound().await;
}

async fn an_order_is_found_by_its_name(database: Database) {
    let (authority, merchant) = Merchant::on(database, "looked-for").await;
    let (one, two) = (merchant.paid_order().await, merchant.paid_order().await);
    set(&merchant, &one, "erp", &json!({ "id": "SO 1&2" })).await.expect(200);
    set(&merchant, &two, "wms", &json!({ "id": "SO 1&2" })).await.expect(200);
    let found = async |query: &str| -> Vec<String> {
        let page = merchant.api.get(&format!("/orders?{query}")).await.expect(200);
        texts(rows(&page), "order_number")
    };
    for (query, expected) in [
        ("external_system=erp&external_id=SO+1%262", vec![one.clone()]),
        ("external_system=wms&external_id=SO%201%262", vec![two]),
        ("external_system=erp&external_id=SO%201%262&status=confirmed", vec![one]),
        ("external_system=erp&external_id=SO%201%262&status=pending", vec![]),
        ("external_system=crm&external_id=SO%201%262", vec![]),
        ("external_system=erp&external_id=SO", vec![]),
    ] {
        assert_eq!(found(query).await, expected, "{query}");
    }
    for (query, param) in [
        ("external_system=erp", "external_id"),
        ("external_id=SO", "external_system"),
        ("external_system=ERP&external_id=SO", "external_system"),
        ("external_system=erp&external_id=", "external_id"),
    ] {
        let reply = merchant.api.get(&format!("/orders?{query}")).await;
        assert_eq!(reply.refused(400, "invalid_parameter")["param"], param, "{query}");
    }
    let live = authority.merchant(&merchant.issue_key("live", &SCOPES).await);
    let page = live.get("/orders?external_system=erp&external_id=SO%201%262").await.expect(200);
    assert_eq!(page["data"], json!([]));
}

/// The name and the entry are written together or not at all.
async fn names_outlive_a_kill(database: Database) {
    let (mut authority, merchant) = Merchant::on(database, "killed-names").await;
    let orders = join_all((0..8).map(|_| merchant.paid_order())).await;
    let answered = set(&merchant, &orders[0], "erp", &json!({ "id": "kept" })).await.expect(200);
    let writes: Vec<_> = orders[1..]
        .iter()
        .flat_map(|order| (0..8).map(move |n| (order, n)))
        .map(|(order, n)| {
            tokio::spawn(
                setting(&merchant, order, "erp", &json!({ "id": format!("{order}:{n}") })).try_send(),
            )
        })
        .collect();
    set(&merchant, &orders[0], "wms", &json!({ "id": "kept" })).await.expect(200);
    authority.kill().await;
    for write in writes {
        write.abort();
    }
    authority.is_sound().await;
    authority.restart().await;
    let merchant = merchant.at(&authority);
    let kept = merchant.order(&orders[0]).await;
    assert_eq!(kept["external_references"][0], answered["external_references"][0]);
    assert_eq!(kept["external_references"].as_array().unwrap().len(), 2);
    authority.is_sound().await;
}
