//! SIGHUP: what lies in a file changes without a restart, completely or not at all (contract 6.5).

use serde_json::{Value, json};
use tests::{Authority, Database, KEK, Merchant, Receiver, eventually, on_both_databases, rows, text};

on_both_databases!(a_key_in_a_file_is_changed_without_a_restart);

const NEW_KEK: &str = "bmV3LWtleS1lbmNyeXB0aW9uLWtleS0zMi1ieXRlcyE=";
const FOREIGN_KEK: &str = "YW5vdGhlciBrZXktZW5jcnlwdGlvbi1rZXktMzJieXQ=";

/// Asks for a reload, and waits until so many have had this outcome.
async fn reload(authority: &Authority, outcome: &str, times: u32) {
    authority.ask_to_reload();
    let line = format!("authority_config_reloads_total{{outcome=\"{outcome}\"}} {times}");
    eventually(&line, async || {
        let metrics = authority.probe("/metrics").await;
        metrics.text().lines().any(|found| found == line).then_some(())
    })
    .await;
}

/// Writes the files of both keys.
fn put_keys(authority: &Authority, current: &str, previous: &str) -> [(&'static str, String); 2] {
    // With a line break at the end, as `openssl rand -base64 32` writes it.
    let current = authority.put("kek", &format!("{current}\n"));
    let previous = authority.put("kek-previous", previous);
    [("AUTHORITY_SECRET_KEK_FILE", current), ("AUTHORITY_SECRET_KEK_PREVIOUS_FILE", previous)]
}

async fn a_key_in_a_file_is_changed_without_a_restart(database: Database) {
    let mut authority = Authority::on(database, &[]).await;
    authority.terminate().await;
    authority.unset("AUTHORITY_SECRET_KEK");
    for (variable, path) in put_keys(&authority, KEK, "") {
        authority.set(variable, &path);
    }
    authority.restart().await;
    let pid = authority.pid();
    let receiver = Receiver::accepting().await;
    let merchant = Merchant::create(&authority, "reloaded").await;
    let first = merchant.endpoint(&receiver.url("/first"), &["*"]).await;
    merchant.paid_order().await;
    receiver.until("six events", |arrivals| arrivals.accepted("/first") == 6).await;
    let cursor = text(&merchant.api.get("/events?limit=1").await.expect(200), "next_cursor");
    let goes_on = async || {
        let page = merchant.api.get(&format!("/events?limit=1&cursor={cursor}")).await.expect(200);
        assert_eq!(rows(&page).len(), 1);
    };

    // What is refused changes nothing, and no key is in the log.
    put_keys(&authority, "topsecret", "");
    reload(&authority, "refused", 1).await;
    put_keys(&authority, FOREIGN_KEK, "");
    reload(&authority, "refused", 2).await;
    goes_on().await;
    let refusals: Vec<String> = lines(&authority, "configuration not reloaded: nothing has changed");
    assert!(refusals[0].contains("AUTHORITY_SECRET_KEK must be 32 random bytes in base64"), "{refusals:?}");
    assert!(refusals[1].contains("AUTHORITY_SECRET_KEK: does not open the signing secrets"), "{refusals:?}");

    // Every instance can open the new key before one of them seals with it.
    put_keys(&authority, KEK, NEW_KEK);
    reload(&authority, "applied", 1).await;
    put_keys(&authority, NEW_KEK, KEK);
    reload(&authority, "applied", 2).await;
    goes_on().await;
    let second = merchant.endpoint(&receiver.url("/second"), &["*"]).await;
    merchant.paid_order().await;
    receiver.until("six more", |arrivals| arrivals.accepted("/second") == 6).await;

    let moved = authority.tells(&["secrets", "rewrap"]).await;
    assert_eq!((&moved["previous"], &moved["unopened"]), (&json!(0), &json!(0)));
    put_keys(&authority, NEW_KEK, "");
    reload(&authority, "applied", 3).await;
    merchant.paid_order().await;
    let arrivals = receiver
        .until("the last six", |all| (all.accepted("/first"), all.accepted("/second")) == (18, 12))
        .await;
    for (path, endpoint) in [("/first", &first), ("/second", &second)] {
        let mut of_endpoint = arrivals.all.iter().filter(|arrival| arrival.path == path);
        assert!(of_endpoint.all(|arrival| arrival.verify(&endpoint.secret).is_ok()));
    }
    assert_eq!(authority.pid(), pid);
    assert_eq!(arrivals.all.len(), 30, "nothing was sent twice");

    authority.terminate().await;
    authority.restart().await;
    authority.is_sound().await;
    let log = authority.log();
    for secret in ["topsecret", KEK, NEW_KEK, FOREIGN_KEK] {
        assert!(!log.contains(secret), "a key is in the log");
    }
}

/// The lines of the log that contain `part`.
fn lines(authority: &Authority, part: &str) -> Vec<String> {
    authority.log().lines().filter(|line| line.contains(part)).map(ToOwned::to_owned).collect()
}

#[tokio::test]
async fn what_can_change_does_and_the_rest_waits_for_the_next_start() {
    let mut authority = Authority::start(&[("AUTHORITY_LOG_FORMAT", "json")]).await;
    authority.terminate().await;
    for (variable, name, value) in [
        ("AUTHORITY_RATE_LIMITS", "limits", "off"),
        ("AUTHORITY_RATE_READ_TEST_PER_SECOND", "reads", "7"),
        ("AUTHORITY_LOG", "log", "warn"),
        ("AUTHORITY_SANDBOX", "sandbox", "on"),
    ] {
        authority.unset(variable);
        authority.set(&format!("{variable}_FILE"), &authority.put(name, value));
    }
    authority.restart().await;
    let merchant = Merchant::create(&authority, "reloaded").await;
    let limited =
        async || merchant.api.get("/orders").await.header("ratelimit-policy").map(ToOwned::to_owned);
    assert_eq!(limited().await, None);

    for (name, value) in [("limits", "on"), ("log", "info"), ("sandbox", "off")] {
        let _ = authority.put(name, value);
    }
    reload(&authority, "applied", 1).await;
    assert_eq!(limited().await.as_deref(), Some("\"read\";q=7;w=1"));
    let effective = merchant.operator.get(&format!("/merchants/{}", merchant.id)).await.expect(200);
    assert_eq!(effective["effective_limits"]["read_test_per_second"], 7);
    merchant.checkout().await;
    let [told] = &lines(&authority, "configuration reloaded")[..] else { panic!("{}", authority.log()) };
    let told: Value = serde_json::from_str(told).unwrap();
    assert_eq!(told["changed"], "AUTHORITY_RATE_LIMITS AUTHORITY_LOG");
    let [waits] = &lines(&authority, "applies at the next start")[..] else { panic!("{}", authority.log()) };
    assert_eq!(serde_json::from_str::<Value>(waits).unwrap()["variable"], "AUTHORITY_SANDBOX");

    // What still waits is named again; what was taken is not.
    let _ = authority.put("limits", "off");
    reload(&authority, "applied", 2).await;
    assert_eq!((limited().await, lines(&authority, "applies at the next start").len()), (None, 2));
    authority.terminate().await;
    authority.restart().await;
    authority.sandbox(&merchant.key).post("/orders", &json!({})).await.refused(404, "route_not_found");
}
