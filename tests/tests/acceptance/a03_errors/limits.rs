//! Too many requests (contract 4.2 row 4, 5.5): 429, and the fields that tell a client where it stands.

use std::collections::BTreeSet;

use http::Method;
use tests::{Api, Database, Merchant, Reply};

use super::get;

/// Buckets so small that a test empties them; returns the code it saw.
pub(super) async fn too_often(database: Database) -> BTreeSet<String> {
    let limits = [
        ("AUTHORITY_RATE_LIMITS", "on"),
        ("AUTHORITY_RATE_READ_TEST_PER_SECOND", "1000"),
        ("AUTHORITY_RATE_WRITE_TEST_PER_SECOND", "50"),
        ("AUTHORITY_RATE_DELIVERY_PER_MINUTE", "1"),
        ("AUTHORITY_RATE_AUTH_PER_MINUTE", "2"),
        ("AUTHORITY_TRUSTED_PROXIES", "127.0.0.1"),
    ];
    let (authority, merchant) = Merchant::on_with(database, &limits, "busy").await;
    let reply = merchant.api.get("/orders").await;
    assert_eq!((reply.status, standing(&reply)), (200, ("\"read\";q=1000;w=1", "\"read\";r=1999;t=1")));
    let endpoint = merchant.endpoint("https://hooks.example.com/", &["order.*"]).await;

    let test = || merchant.api.call(Method::POST, &endpoint.path("/test"));
    let reply = test().send().await;
    assert_eq!((reply.status, standing(&reply)), (202, ("\"delivery\";q=1;w=60", "\"delivery\";r=0;t=60")));
    let reply = test().send().await;
    let problem = reply.refused(429, "rate_limited");
    let (policy, left) = standing(&reply);
    // The bucket has been filling since the first request.
    let full_in = left.strip_prefix("\"delivery\";r=0;t=").map(|seconds| seconds.parse::<u32>().unwrap());
    assert!(policy == "\"delivery\";q=1;w=60" && matches!(full_in, Some(1..=60)), "{policy} {left}");
    let retry_after: u32 = reply.header("retry-after").unwrap().parse().unwrap();
    assert!((1..=60).contains(&retry_after), "{retry_after}");
    assert_eq!(merchant.events().await.len(), 1);
    // Another bucket, and the same bucket of another merchant, are not touched by it.
    let other = Merchant::create(&authority, "quiet").await;
    let endpoint = other.endpoint("https://hooks.example.com/", &["order.*"]).await;
    other.test(&endpoint).await;

    let stranger = merchant.api.with_key(None);
    for _ in 0..2 {
        get(&stranger, "/orders").send().await.refused(401, "missing_credential");
    }
    let reply = get(&stranger, "/orders").send().await;
    reply.refused(429, "rate_limited");
    let retry_after: u32 = reply.header("retry-after").unwrap().parse().unwrap();
    assert!((1..=30).contains(&retry_after), "{retry_after}");
    // A wrong key has a bucket of its own, and so has every client of a proxy that is trusted.
    let wrong = merchant.api.with_key(Some("svc_test_wrong"));
    let from = |api: &Api, client: &str| get(api, "/orders").header("x-forwarded-for", client);
    for client in ["192.0.2.1", "192.0.2.2"] {
        for _ in 0..2 {
            from(&wrong, client).send().await.refused(401, "invalid_api_key");
        }
        from(&wrong, client).send().await.refused(429, "rate_limited");
    }
    get(&wrong, "/orders").send().await.refused(401, "invalid_api_key");
    assert_eq!(merchant.api.get("/orders").await.status, 200, "a good key passes from the same address");
    assert_eq!(from(&merchant.api, "192.0.2.1").send().await.status, 200);
    // The operator's listener likewise.
    let guessed = merchant.operator.with_key(Some("svc_op_wrong"));
    let outbox = |api: &Api| get(api, "/outbox").header("forwarded", "for=192.0.2.3");
    for _ in 0..2 {
        outbox(&guessed).send().await.refused(401, "invalid_api_key");
    }
    outbox(&guessed).send().await.refused(429, "rate_limited");
    assert_eq!(outbox(&merchant.operator).send().await.status, 200);
    BTreeSet::from([problem["code"].as_str().map(str::to_owned)]).into_iter().flatten().collect()
}

fn standing(reply: &Reply) -> (&str, &str) {
    (reply.header("ratelimit-policy").unwrap(), reply.header("ratelimit").unwrap())
}
