//! What an endpoint asks of its deliveries (contract 4.10) as a record: shown wherever the endpoint is, but never the
//! value of a header.

use serde_json::{Value, json};
use tests::{Database, Merchant, Receiver, on_both_databases, text};

use super::{are_nowhere, at, made_and_changed_twice, patch, shown_everywhere};

const URL: &str = "http://127.0.0.1:9/a";

fn options(record: &Value) -> [&Value; 3] {
    ["header_names", "timeout_ms", "retry_schedule"].map(|member| &record[member])
}

async fn options_are_shown_wherever_the_endpoint_is(database: Database) {
    let (_authority, merchant) = Merchant::on(database, "options").await;
    let (api, operator) = (&merchant.api, &merchant.operator);
    let plain = api.post("/webhook-endpoints", &json!({ "url": URL })).await.expect(201);
    assert_eq!(options(&plain), [&json!([]), &json!(null), &json!("standard")]);
    let body = json!({ "url": URL, "headers": { "X-B": "1", "a": "2" }, "timeout_ms": 30_000, "retry_schedule": "long" });
    let set = [&json!(["a", "x-b"]), &json!(30_000), &json!("long")];
    let everywhere = shown_everywhere(&merchant, &body).await;
    for shown in &everywhere {
        assert_eq!(options(shown), set);
        assert_eq!(shown.get("headers"), None);
    }
    let id = text(&everywhere[0], "id");
    // Each changes alone; what changes nothing makes no version, but headers that are set always do.
    let mut version = everywhere[4]["resource_version"].as_i64().unwrap();
    let none = json!(null);
    for (body, expected, is_change) in [
        (json!({ "timeout_ms": 1000 }), [set[0], &json!(1000), set[2]], true),
        (json!({ "timeout_ms": 1000 }), [set[0], &json!(1000), set[2]], false),
        (json!({ "retry_schedule": "short" }), [set[0], &json!(1000), &json!("short")], true),
        (json!({ "headers": { "c": "3" } }), [&json!(["c"]), &json!(1000), &json!("short")], true),
        (json!({ "headers": { "C": "3" } }), [&json!(["c"]), &json!(1000), &json!("short")], true),
        (json!({ "headers": {} }), [&json!([]), &json!(1000), &json!("short")], true),
        (json!({ "headers": null }), [&json!([]), &json!(1000), &json!("short")], false),
        (
            json!({ "timeout_ms": null, "retry_schedule": "standard" }),
            [&json!([]), &none, &json!("standard")],
            true,
        ),
    ] {
        let changed = patch(api, &id, &body).send().await.expect(200);
        version += i64::from(is_change);
        assert_eq!((options(&changed), &changed["resource_version"]), (expected, &json!(version)), "{body}");
    }
    // The platform's own endpoint.
    let sink = operator.post("/sink", &body).await.expect(201);
    let read = operator.get("/sink").await.expect(200);
    for shown in [&sink, &read] {
        assert_eq!(options(shown), set);
    }
    let body = json!({ "headers": { "d": "4" }, "timeout_ms": null, "retry_schedule": "short" });
    let changed = operator.patch("/sink", &body).await.expect(200);
    assert_eq!(options(&changed), [&json!(["d"]), &json!(null), &json!("short")]);
}

/// The value of a header that is set, replaced, refused, repeated and delivered is nowhere: not in an answer, the log,
/// a file or the database, nor in what commands print.
async fn a_headers_value_is_never_seen_again(database: Database) {
    let (authority, merchant) = Merchant::on(database, "unseen").await;
    let receiver = Receiver::accepting().await;
    let (api, operator) = (&merchant.api, &merchant.operator);
    let values = ["b7Qm-first-Zp93", "b7Qm-second-Xw4", "b7Qm-refused-Lk8", "b7Qm-sink-Vt21"];
    let body = json!({ "url": receiver.url("/hook"), "headers": { "authorization": values[0] } });
    let change = json!({ "headers": { "authorization": values[1], "x-more": values[1] } });
    let (id, mut answers) = made_and_changed_twice(api, &body, &change).await;
    for headers in [
        json!({ "host": values[2] }),
        json!({ "x": format!("{}\r\n", values[2]) }),
        json!({ "x": [values[2]] }),
        json!({ "x": values[2], "X": values[2] }),
        json!({ "x": values[2].repeat(100) }),
        json!(values[2]),
    ] {
        let refused = patch(api, &id, &json!({ "headers": headers })).send().await;
        refused.refused(422, "validation_failed");
        answers.push(refused);
        let body = json!({ "url": URL, "headers": headers });
        answers.push(api.post("/webhook-endpoints", &body).await);
    }
    let body = json!({ "url": receiver.url("/sink"), "headers": { "x-platform": values[3] } });
    answers.push(operator.post_as("sink-once", "/sink", &body).await);
    answers.push(
        operator.patch("/sink", &json!({ "headers": { "x-platform": values[3] }, "timeout_ms": 2000 })).await,
    );
    merchant.checkout().await;
    receiver
        .until("both", |arrivals| arrivals.accepted("/hook") == 1 && arrivals.accepted("/sink") == 1)
        .await;
    let arrivals = receiver.arrivals();
    assert_eq!(arrivals.at("/hook").next().unwrap().header("x-more"), values[1]);
    assert_eq!(arrivals.at("/sink").next().unwrap().header("x-platform"), values[3]);
    for path in [&at(&id), "/webhook-endpoints", "/events"] {
        answers.push(api.get(path).await);
    }
    answers.push(api.get(&format!("{}/deliveries", at(&id))).await);
    for path in [&at(&id), "/sink", "/audit-log?limit=100"] {
        answers.push(operator.get(path).await);
    }
    answers.push(authority.probe("/metrics").await);
    let answered = answers.iter().map(|answer| answer.body.to_vec());
    let seen = answered.chain(arrivals.all.iter().map(|arrival| arrival.body.to_vec())).collect();
    let listed = are_nowhere(&authority, &values.map(|value| value.as_bytes().to_vec()), seen).await;
    assert!(listed.contains("x-more"), "{listed}");
}

on_both_databases!(options_are_shown_wherever_the_endpoint_is, a_headers_value_is_never_seen_again);
