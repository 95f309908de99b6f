//! A recovery that runs is found, watched and cancelled at its own endpoint, and one that has ended is listed there.

use serde_json::{Value, json};
use tests::{Database, Endpoint, Merchant, Receiver, on_both_databases, text};

use crate::browser::Browser;
use crate::portal::{ALL, entered};

on_both_databases!(a_recovery_that_runs_is_found_at_its_endpoint, what_has_no_stream_misses_nothing);

async fn begun(merchant: &Merchant, endpoint: &Endpoint) -> Value {
    let path = endpoint.path("/recover");
    merchant.api.post(&path, &json!({ "since": "2020-01-01T00:00:00Z" })).await.expect(202)
}

/// The receiver holds what it gets, so that the recovery of many events goes on.
async fn a_recovery_that_runs_is_found_at_its_endpoint(database: Database) {
    let (authority, merchant) = Merchant::on(database, "acme").await;
    let (receiver, gate) = Receiver::gated(200).await;
    let endpoint = merchant.endpoint(&receiver.url("/hook"), &["*"]).await;
    let other = merchant.endpoint(&receiver.url("/other"), &["*"]).await;
    merchant.checkout().await;
    authority.copy_event(&merchant.id, 2_500).await;
    let recovery = text(&begun(&merchant, &endpoint).await, "id");
    let operator = Browser::signed_in(&authority).await;
    let visitor = entered(&merchant, ALL).await;
    let at = |site: &str, endpoint: &Endpoint| format!("/{site}/endpoints/{}", endpoint.id);
    let watched = |site: &str| format!("{}?recovery={recovery}", at(site, &endpoint));
    let found = operator.get(&format!("/console/search?q={recovery}")).await;
    assert_eq!((found.status, found.header("location")), (303, Some(watched("console").as_str())));
    for (site, browser) in [("console", &operator), ("portal", &visitor)] {
        let html = browser.page(&at(site, &endpoint)).await;
        let link = format!("<a href=\"{}\"><bdi>{recovery}</bdi></a>", watched(site));
        assert!(html.contains("It gets what it missed") && html.contains(&link), "{link}: {html}");
        let all = browser.page(&format!("{}/recoveries", at(site, &endpoint))).await;
        assert!(all.contains("Recoveries that run") && all.contains(&link), "{all}");
        assert!(all.contains("No recovery has ended yet."), "{all}");
        let html = browser.page(&at(site, &other)).await;
        assert!(!html.contains("It gets what it missed") && !html.contains(&recovery), "{html}");
        // Nor is it the other endpoint's to cancel.
        let cancel = |endpoint: &Endpoint| format!("{}/recoveries/{recovery}/cancel", at(site, endpoint));
        let form = browser.form(&watched(site), &cancel(&endpoint)).await;
        let elsewhere = browser.send_again(&cancel(&other), &form, &[]).await;
        assert_eq!(elsewhere.status, 404, "{}", elsewhere.text());
    }
    let running = merchant.api.get(&format!("/endpoint-recoveries/{recovery}")).await.expect(200);
    assert_eq!(running["status"], "running");
    let cancel = format!("{}/recoveries/{recovery}/cancel", at("portal", &endpoint));
    let said = visitor.done(&watched("portal"), &cancel, &[]).await;
    assert!(said.contains("The recovery was cancelled."), "{said}");
    // Ended, it stands with what became of it among all recoveries of its endpoint, and of no other.
    for (site, browser) in [("console", &operator), ("portal", &visitor)] {
        let html = browser.page(&at(site, &endpoint)).await;
        let all = format!("{}/recoveries", at(site, &endpoint));
        assert!(!html.contains("It gets what it missed"), "{html}");
        assert!(html.contains(&format!("<a href=\"{all}\">All recoveries of this endpoint</a>")), "{html}");
        let html = browser.page(&all).await;
        let row = format!(
            "<th scope=\"row\"><a href=\"{}\"><bdi>{recovery}</bdi></a></th>\
             <td><span class=\"state cancelled\"><bdi>cancelled</bdi></span></td>",
            watched(site)
        );
        assert!(html.contains(&row) && html.contains(&receiver.url("/hook")), "{row}: {html}");
        let html = browser.page(&format!("{}/recoveries", at(site, &other))).await;
        assert!(html.contains("No recovery has ended yet.") && !html.contains(&recovery), "{html}");
    }
    gate.open();
}

/// The platform's own endpoint gets what everybody's do, and has no page of what it missed.
async fn what_has_no_stream_misses_nothing(database: Database) {
    let authority = tests::Authority::on(database, &[]).await;
    let sink = json!({ "url": "http://127.0.0.1:9/sink", "enabled_events": ["*"] });
    let sink = text(&authority.operator().post("/sink", &sink).await.expect(201), "id");
    let browser = Browser::signed_in(&authority).await;
    let page = format!("/console/endpoints/{sink}");
    assert!(!browser.page(&page).await.contains("has not arrived"));
    assert!(!browser.page(&page).await.contains("/recoveries"));
    for (name, empty) in
        [("undelivered", "Everything has arrived."), ("recoveries", "No recovery has ended yet.")]
    {
        let missed = browser.get(&format!("{page}/{name}")).await;
        assert_eq!(missed.status, 404, "{}", missed.text());
        assert!(!missed.text().contains(empty), "{}", missed.text());
    }
}
