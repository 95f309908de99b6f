//! A15: where events are never sent (contract 7.6): by the form of a URL when an endpoint is written, and by what its
//! name leads to at every attempt.

use http::Method;
use serde_json::{Value, json};
use tests::{Database, InProcess, Merchant, Receiver, on_every_database, retries, text};

on_every_database!(
    a15_each_refused_form_is_refused_when_written,
    a15_the_development_exception_is_for_test_mode_alone,
    a15_a_name_that_leads_inside_is_not_connected_to,
    a15_a_name_that_changes_after_the_check_gains_nothing,
    a15_a_request_that_is_refused_otherwise_resolves_nothing,
);

const PRODUCTION: [(&str, &str); 3] = [
    ("AUTHORITY_ENV", "production"),
    ("AUTHORITY_ALLOW_LOOPBACK_ENDPOINTS", "false"),
    ("AUTHORITY_BASE_URL", "https://api.shop.example"),
];

/// The code of the member, and URLs that it is given for.
fn refused_forms() -> Vec<(&'static str, Vec<String>)> {
    let of = |urls: &[&str]| urls.iter().map(|url| (*url).to_owned()).collect::<Vec<_>>();
    vec![
        (
            "url_scheme",
            of(&["http://hooks.example.com/", "ftp://hooks.example.com/", "ws://hooks.example.com/"]),
        ),
        (
            "url_port",
            of(&[
                "https://hooks.example.com:80/",
                "https://hooks.example.com:22/",
                "https://hooks.example.com:1023/",
                "https://hooks.example.com:0/",
                "https://hooks.example.com:65536/",
            ]),
        ),
        (
            "url_host",
            of(&[
                // Every notation of an address.
                "https://127.0.0.1/",
                "https://127.1/",
                "https://2130706433/",
                "https://0x7f000001/",
                "https://0x7f.1/",
                "https://0177.0.0.1/",
                "https://169.254.169.254/latest/meta-data/",
                "https://10.0.0.1:8443/",
                "https://93.184.215.14/",
                "https://93.184.215.14./",
                "https://１２７.０.０.１/",
                "https://[::1]/",
                "https://[::ffff:127.0.0.1]/",
                "https://[64:ff9b::7f00:1]/",
                "https://[2606:2800:21f:cb07:6820:80da:af6b:8b2c]/",
                "https://-a.example.com/",
                "https://a..example.com/",
            ]),
        ),
        (
            "url_host_denied",
            of(&[
                "https://localhost/",
                "https://LOCALHOST./",
                "https://intranet/",
                "https://a.localhost/",
                "https://printer.local/",
                "https://metadata.google.internal/",
                "https://router.home.arpa/",
                "https://api.shop.example/",
                "https://hooks.api.shop.example/",
            ]),
        ),
        (
            "url_userinfo",
            of(&[
                "https://user@hooks.example.com/",
                "https://user:word@hooks.example.com/",
                "https://@hooks.example.com/",
            ]),
        ),
        ("url_fragment", of(&["https://hooks.example.com/#a", "https://hooks.example.com/#"])),
        (
            "invalid_url",
            of(&[
                "hooks.example.com",
                "/hook",
                "https:///hook",
                "https:\\\\hooks.example.com",
                "https://hooks.example.com/a b",
            ]),
        ),
    ]
}

async fn a15_each_refused_form_is_refused_when_written(database: Database) {
    let (authority, merchant) = Merchant::on_with(database, &PRODUCTION, "addresses").await;
    let endpoint = merchant.endpoint("https://hooks.example.com./a?b=c", &["*"]).await;
    let path = endpoint.path("");
    let before = merchant.endpoint_now(&endpoint).await;
    assert_eq!(before["url"], "https://hooks.example.com/a?b=c", "without the dot at its end");
    let live = authority.merchant(&merchant.issue_key("live", &["webhooks:manage"]).await);
    for (code, urls) in refused_forms() {
        for url in urls {
            let body = json!({ "url": url });
            let made = merchant.api.post("/webhook-endpoints", &body).await;
            let changed = merchant.api.patch(&path, &body).await;
            let in_live = live.post("/webhook-endpoints", &body).await;
            for reply in [made, changed, in_live] {
                let problem = reply.refused(422, "endpoint_url_forbidden");
                let told = (&problem["errors"][0]["pointer"], &problem["errors"][0]["code"]);
                assert_eq!(told, (&json!("/url"), &json!(code)), "{url}");
            }
        }
    }
    let too_long = json!({ "url": format!("https://hooks.example.com/{}", "a".repeat(2_048)) });
    let problem = merchant.api.post("/webhook-endpoints", &too_long).await.refused(422, "validation_failed");
    assert_eq!(problem["errors"][0]["code"], "too_long");
    assert_eq!(merchant.endpoint_now(&endpoint).await, before, "nothing has changed");
    for url in [
        "https://hooks.example.com/",
        "https://hooks.example.com:443/",
        "https://hooks.example.com:1024/",
        "https://hooks.example.com:65535/",
        "https://xn--bcher-kva.example/",
        "https://bücher.example/",
    ] {
        merchant.api.post("/webhook-endpoints", &json!({ "url": url })).await.expect(201);
    }
}

async fn a15_the_development_exception_is_for_test_mode_alone(database: Database) {
    let (authority, merchant) = Merchant::on(database, "loopback").await;
    let live = authority.merchant(&merchant.issue_key("live", &["webhooks:manage"]).await);
    for host in ["127.0.0.1", "[::1]", "localhost"] {
        for scheme in ["http", "https"] {
            let body = json!({ "url": format!("{scheme}://{host}:81/") });
            merchant.api.post("/webhook-endpoints", &body).await.expect(201);
            live.post("/webhook-endpoints", &body).await.refused(422, "endpoint_url_forbidden");
        }
    }
    // Nothing else of this machine or its network.
    for url in [
        "http://127.0.0.2/",
        "http://127.1/",
        "http://0.0.0.0/",
        "http://10.0.0.1/",
        "http://[::]/",
        "http://localhost.localdomain/",
        "http://hooks.example.com/",
    ] {
        let reply = merchant.api.post("/webhook-endpoints", &json!({ "url": url })).await;
        reply.refused(422, "endpoint_url_forbidden");
    }
    // In production the switch is refused.
    let both = [("AUTHORITY_ENV", "production"), ("AUTHORITY_ALLOW_LOOPBACK_ENDPOINTS", "true")];
    let refused = authority.refuses(&both, &["serve"], 2).await;
    assert!(refused.contains("AUTHORITY_ALLOW_LOOPBACK_ENDPOINTS"), "{refused}");
}

/// The outcomes of every attempt of the only delivery of an endpoint.
async fn outcomes(merchant: &Merchant, endpoint: &tests::Endpoint) -> Vec<Value> {
    let delivery = merchant.deliveries(endpoint).await.remove(0);
    let delivery = merchant.delivery(&text(&delivery, "id")).await;
    delivery["attempts"].as_array().unwrap().iter().map(|attempt| attempt["outcome"].clone()).collect()
}

async fn a15_a_name_that_leads_inside_is_not_connected_to(database: Database) {
    let service = InProcess::start(database, &[retries("0,1")]).await;
    let inside = Receiver::accepting().await;
    let port = inside.url("").rsplit_once(':').unwrap().1.to_owned();
    let merchant = Merchant::create(&service, "inside").await;
    let mut endpoints = Vec::new();
    for (n, addresses) in [
        &["127.0.0.1"] as &[&str],
        &["169.254.169.254"],
        &["::1"],
        &["::ffff:127.0.0.1"],
        &["64:ff9b::7f00:1"],
        &["2002:7f00:1::"],
        &["10.0.0.1"],
        &["100.64.0.1"],
        &["168.63.129.16"],
        &["fd00::1"],
        // One bad answer spoils the good ones, wherever it stands.
        &["93.184.215.14", "127.0.0.1"],
        &["127.0.0.1", "93.184.215.14"],
    ]
    .iter()
    .enumerate()
    {
        let host = format!("hooks-{n}.example.com");
        service.names.lead(&host, addresses);
        let url = format!("https://{host}:{port}/hook");
        let refused = merchant.api.post("/webhook-endpoints", &json!({ "url": url })).await;
        let refused = refused.refused(422, "endpoint_url_forbidden");
        assert_eq!(refused["errors"][0]["code"], "url_address_blocked", "{addresses:?}");
        // It leads elsewhere while the endpoint is made, and back again.
        service.names.lead(&host, &["93.184.215.14"]);
        endpoints.push((merchant.endpoint(&url, &["*"]).await, addresses));
        service.names.lead(&host, addresses);
    }
    merchant.checkout().await;
    service.play_out().await;
    for (endpoint, addresses) in &endpoints {
        assert_eq!(
            outcomes(&merchant, endpoint).await,
            ["blocked_address", "blocked_address"],
            "{addresses:?}"
        );
        assert_eq!(merchant.fates(endpoint).await, ["failed attempts_exhausted 2"]);
    }
    assert_eq!(inside.connections(), 0, "nobody has even connected");
    assert_eq!(merchant.alerts("blocked_address").await.len(), endpoints.len());
    service.stop().await;
}

/// A public address when the endpoint is written, another one at the attempt; and no second look at the name between
/// the judgement and the connection.
async fn a15_a_name_that_changes_after_the_check_gains_nothing(database: Database) {
    let service = InProcess::start(database, &[retries("0,1,1")]).await;
    let inside = Receiver::accepting().await;
    let port = inside.url("").rsplit_once(':').unwrap().1.to_owned();
    let merchant = Merchant::create(&service, "rebound").await;
    service.names.lead("hooks.example.com", &["93.184.215.14"]);
    let endpoint = merchant.endpoint(&format!("https://hooks.example.com:{port}/hook"), &["*"]).await;
    let asked_before = service.names.asked("hooks.example.com");
    service.names.lead("hooks.example.com", &["127.0.0.1"]);
    merchant.checkout().await;
    service.play_out().await;
    assert_eq!(outcomes(&merchant, &endpoint).await, ["blocked_address"; 3]);
    assert_eq!(service.names.asked("hooks.example.com") - asked_before, 3, "once per attempt");
    assert_eq!(inside.connections(), 0);
    service.stop().await;
}

/// A name is resolved after every other check of a request, and once for a request that is repeated (18.4-2).
async fn a15_a_request_that_is_refused_otherwise_resolves_nothing(database: Database) {
    let (service, merchant) = Merchant::inside(database, &[], "full").await;
    let (inside, outside) = ("inside.example.com", "outside.example.com");
    service.names.lead(inside, &["10.0.0.1"]);
    service.names.lead(outside, &["93.184.215.14"]);
    let api = &merchant.api;
    let body = |host: &str| json!({ "url": format!("https://{host}/hook"), "enabled_events": ["*"] });
    // Made once, asked once, answered twice.
    for _ in 0..2 {
        api.post_as("first", "/webhook-endpoints", &body(outside)).await.expect(201);
    }
    api.post_as("first", "/webhook-endpoints", &body(inside)).await.refused(422, "idempotency_key_reused");
    assert_eq!(service.names.asked(outside), 1);
    let mut wrong = body(inside);
    wrong["enabled_events"] = json!(["no.such.event"]);
    api.post("/webhook-endpoints", &wrong).await.refused(422, "validation_failed");
    assert_eq!(service.names.asked(inside), 0);
    api.post("/webhook-endpoints", &body(inside)).await.refused(422, "endpoint_url_forbidden");
    assert_eq!(service.names.asked(inside), 1);
    // There is room for sixteen.
    for _ in 1..15 {
        merchant.endpoint(&format!("https://{outside}/hook"), &["*"]).await;
    }
    let last = merchant.endpoint(&format!("https://{outside}/hook"), &["*"]).await;
    api.post("/webhook-endpoints", &body(inside)).await.refused(409, "endpoint_limit_reached");
    let change = |id: &str| api.call(Method::PATCH, &format!("/webhook-endpoints/{id}")).json(&body(inside));
    change("we_01k3zqa7w5e8v9r2t4y6m8n0pq").send().await.refused(404, "not_found");
    let stale = change(&last.id).header("if-match", "\"7\"").send().await;
    stale.refused(409, "resource_version_conflict");
    assert_eq!(service.names.asked(inside), 1);
    change(&last.id).send().await.refused(422, "endpoint_url_forbidden");
    assert_eq!(service.names.asked(inside), 2);
    let unchanged = merchant.endpoint_now(&last).await;
    assert_eq!(unchanged["url"], format!("https://{outside}/hook"));
    service.stop().await;
}
