//! Limits of a merchant, which the operator sets over the platform's defaults (contract 2.16, 5.5, 18.4-9).

use http::Method;
use serde_json::{Value, json};
use tests::{Database, Merchant, has, on_both_databases, rows, text, wrong_members};

on_both_databases!(
    limits_are_set_over_the_platforms_defaults,
    a_rate_holds_for_the_next_request,
    a_merchant_has_as_many_endpoints_as_it_is_allowed,
    in_flight_is_set_by_merchant_and_operator_within_the_limit,
);

const LIMITS: [&str; 8] = [
    "read_live_per_second",
    "read_test_per_second",
    "write_live_per_second",
    "write_test_per_second",
    "delivery_per_minute",
    "endpoints",
    "max_in_flight",
    "dispatch_share_percent",
];

async fn limits_are_set_over_the_platforms_defaults(database: Database) {
    let rates = [("AUTHORITY_RATE_LIMITS", "on"), ("AUTHORITY_RATE_WRITE_TEST_PER_SECOND", "7")];
    let (authority, merchant) = Merchant::on_with(database, &rates, "acme").await;
    let path = format!("/merchants/{}", merchant.id);
    let operator = authority.operator();
    let before = operator.get(&path).await.expect(200);
    let defaults = json!({
        "read_live_per_second": 100, "read_test_per_second": 25, "write_live_per_second": 25,
        "write_test_per_second": 7, "delivery_per_minute": 60, "endpoints": 16, "max_in_flight": 256,
        "dispatch_share_percent": 25,
    });
    let unset: Value = LIMITS.iter().map(|name| ((*name).to_owned(), Value::Null)).collect();
    assert_eq!((&before["limits"], &before["effective_limits"]), (&unset, &defaults));
    let listed = operator.get("/merchants?slug=acme").await.expect(200);
    assert_eq!(listed["data"], json!([before]));

    let set =
        json!({ "write_live_per_second": 1_000_000, "endpoints": 1_000, "dispatch_share_percent": 100 });
    let after = operator.patch(&path, &json!({ "limits": set })).await.expect(200);
    let (mut own, mut holds) = (unset.clone(), defaults.clone());
    for (name, value) in set.as_object().unwrap() {
        own[name] = value.clone();
        holds[name] = value.clone();
    }
    has(&after, json!({ "limits": own, "effective_limits": holds, "resource_version": 2 }));
    // What is not named stays; null is the platform's again.
    let after =
        operator.patch(&path, &json!({ "limits": { "write_live_per_second": null } })).await.expect(200);
    own["write_live_per_second"] = Value::Null;
    holds["write_live_per_second"] = json!(25);
    assert_eq!((&after["limits"], &after["effective_limits"]), (&own, &holds));
    assert_eq!(operator.get(&path).await.expect(200), after);

    let wrong = json!({ "limits": {
        "read_live_per_second": 0, "write_test_per_second": 1_000_001, "delivery_per_minute": "60",
        "endpoints": 1_001, "max_in_flight": 257, "dispatch_share_percent": 101, "speed": 1,
    } });
    let problem = operator.patch(&path, &wrong).await.refused(422, "unknown_field");
    let expected = json!([
        ["/limits/read_live_per_second", "out_of_range"],
        ["/limits/write_test_per_second", "out_of_range"],
        ["/limits/delivery_per_minute", "wrong_type"],
        ["/limits/endpoints", "out_of_range"],
        ["/limits/max_in_flight", "out_of_range"],
        ["/limits/dispatch_share_percent", "out_of_range"],
        ["/limits/speed", "unknown_field"],
    ]);
    assert_eq!(wrong_members(&problem), expected);
    let computed = json!({ "effective_limits": {} });
    operator.patch(&path, &computed).await.refused(422, "field_not_writable");
    let audited = operator.get("/audit-log?limit=2").await.expect(200);
    for (entry, version) in rows(&audited).iter().zip([3, 2]) {
        let expected = (&json!("merchants.update"), &json!(merchant.id), &json!(version));
        assert_eq!(
            (&entry["operation"], &entry["resource_id"], &entry["version_after"]),
            expected,
            "{entry}"
        );
    }

    // A merchant may be made with limits.
    let body =
        json!({ "slug": "big", "name": "Big", "default_currency": "USD", "limits": { "max_in_flight": 9 } });
    let made = operator.post("/merchants", &body).await.expect(201);
    assert_eq!(
        (&made["limits"]["max_in_flight"], &made["effective_limits"]["max_in_flight"]),
        (&json!(9), &json!(9))
    );
}

async fn a_rate_holds_for_the_next_request(database: Database) {
    let (authority, merchant) = Merchant::on_with(database, &[("AUTHORITY_RATE_LIMITS", "on")], "acme").await;
    let path = format!("/merchants/{}", merchant.id);
    let endpoint = merchant.endpoint("https://hooks.example.com/", &["order.*"]).await;
    let test = async || merchant.api.call(Method::POST, &endpoint.path("/test")).send().await;
    let standing = |reply: &tests::Reply| reply.header("ratelimit-policy").unwrap().to_owned();
    assert_eq!(standing(&test().await), "\"delivery\";q=60;w=60");
    authority.operator().patch(&path, &json!({ "limits": { "delivery_per_minute": 2 } })).await.expect(200);
    let mut reply = test().await;
    assert_eq!((reply.status, standing(&reply)), (202, "\"delivery\";q=2;w=60".to_owned()));
    // A machine that takes half a minute for each would never see it.
    for _ in 0..9 {
        reply = test().await;
        if reply.status != 202 {
            break;
        }
    }
    let problem = reply.refused(429, "rate_limited");
    assert_eq!((&problem["limit"], &problem["limit_value"]), (&json!("delivery_per_minute"), &json!(2)));
    let detail = "Too many requests: this merchant's limit delivery_per_minute is 2, 2 at once. Try again later; the \
                  platform's operator can raise it.";
    assert_eq!(problem["detail"], detail);
    // Nobody else's changed, and this one's is as before when the operator takes its limit back.
    let other = Merchant::create(&authority, "other").await;
    assert_eq!(
        standing(&other.api.post("/webhook-endpoints/we_1/test", &json!({})).await),
        "\"delivery\";q=60;w=60"
    );
    authority
        .operator()
        .patch(&path, &json!({ "limits": { "delivery_per_minute": null } }))
        .await
        .expect(200);
    assert_eq!(standing(&test().await), "\"delivery\";q=60;w=60");
}

async fn a_merchant_has_as_many_endpoints_as_it_is_allowed(database: Database) {
    let (authority, merchant) = Merchant::on(database, "acme").await;
    let path = format!("/merchants/{}", merchant.id);
    let operator = authority.operator();
    let allow = async |endpoints: Value| {
        operator.patch(&path, &json!({ "limits": { "endpoints": endpoints } })).await.expect(200);
    };
    let body = json!({ "url": "https://hooks.example.com/" });
    let refused = async |limit: i64| {
        let problem =
            merchant.api.post("/webhook-endpoints", &body).await.refused(409, "endpoint_limit_reached");
        assert_eq!((&problem["limit"], &problem["limit_value"]), (&json!("endpoints"), &json!(limit)));
        let detail = format!(
            "This merchant's limit endpoints is {limit} per mode; the platform's operator can raise it."
        );
        assert_eq!(problem["detail"], detail);
    };
    allow(json!(17)).await;
    for _ in 0..17 {
        merchant.endpoint("https://hooks.example.com/", &["*"]).await;
    }
    refused(17).await;
    allow(json!(18)).await;
    merchant.endpoint("https://hooks.example.com/", &["*"]).await;
    refused(18).await;
    // A lower limit takes nothing away; it only lets nothing more in.
    allow(Value::Null).await;
    refused(16).await;
    let page = merchant.api.get("/webhook-endpoints?limit=100").await.expect(200);
    assert_eq!(rows(&page).len(), 18);
    assert_eq!(merchant.health().await["endpoints"].as_array().unwrap().len(), 18);
}

async fn in_flight_is_set_by_merchant_and_operator_within_the_limit(database: Database) {
    let (authority, merchant) = Merchant::on(database, "acme").await;
    let operator = authority.operator();
    let allow = async |limit: Value| {
        let path = format!("/merchants/{}", merchant.id);
        operator.patch(&path, &json!({ "limits": { "max_in_flight": limit } })).await.expect(200);
    };
    let create = async |wanted: Value| {
        let body = json!({ "url": "https://hooks.example.com/", "max_in_flight": wanted });
        merchant.api.post("/webhook-endpoints", &body).await
    };
    let plain = merchant.endpoint("https://hooks.example.com/", &["*"]).await;
    let made = create(json!(256)).await.expect(201);
    let path = format!("/webhook-endpoints/{}", text(&made, "id"));
    let in_flight = async || {
        let (plain, made) = (merchant.endpoint_now(&plain).await, merchant.api.get(&path).await.expect(200));
        let found = operator.get(&path).await.expect(200);
        assert_eq!(found["max_in_flight"], made["max_in_flight"]);
        (plain["max_in_flight"].as_i64().unwrap(), made["max_in_flight"].as_i64().unwrap())
    };
    assert_eq!(in_flight().await, (128, 256));
    for (wanted, code) in
        [(json!(0), "out_of_range"), (json!(257), "out_of_range"), (json!("8"), "wrong_type")]
    {
        let problem = create(wanted).await.refused(422, "validation_failed");
        assert_eq!(wrong_members(&problem), json!([["/max_in_flight", code]]));
    }
    // The operator's limit holds at once, for what is there and for what is asked for.
    allow(json!(40)).await;
    assert_eq!(in_flight().await, (40, 40));
    for problem in [
        create(json!(41)).await.refused(422, "validation_failed"),
        merchant.api.patch(&path, &json!({ "max_in_flight": 41 })).await.refused(422, "validation_failed"),
        operator.patch(&path, &json!({ "max_in_flight": 41 })).await.refused(422, "validation_failed"),
    ] {
        assert_eq!(wrong_members(&problem), json!([["/max_in_flight", "out_of_range"]]));
        let detail = "This merchant's limit max_in_flight is 40; the platform's operator can raise it.";
        assert_eq!(problem["errors"][0]["detail"], detail);
    }
    let changed = merchant.api.patch(&path, &json!({ "max_in_flight": 3 })).await.expect(200);
    assert_eq!((&changed["max_in_flight"], &changed["resource_version"]), (&json!(3), &json!(2)));
    let changed = operator.patch(&path, &json!({ "max_in_flight": 4 })).await.expect(200);
    assert_eq!((&changed["max_in_flight"], &changed["resource_version"]), (&json!(4), &json!(3)));
    let audited = operator.get("/audit-log?limit=1").await.expect(200)["data"][0].clone();
    assert_eq!((&audited["operation"], &audited["resource_id"]), (&json!("endpoints.update"), &made["id"]));
    let stale =
        operator.call(Method::PATCH, &path).header("if-match", "1").json(&json!({ "max_in_flight": 5 }));
    stale.send().await.refused(409, "resource_version_conflict");
    // Null: as if nothing had been set.
    merchant.api.patch(&path, &json!({ "max_in_flight": null })).await.expect(200);
    assert_eq!(in_flight().await, (40, 40));
    allow(Value::Null).await;
    assert_eq!(in_flight().await, (128, 128));
    for name in ["held_until", "held_reason"] {
        let body = json!({ name: null });
        merchant.api.patch(&path, &body).await.refused(422, "field_not_writable");
    }
}
