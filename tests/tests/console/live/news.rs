//! What a stream tells, and whom.

use tests::{Authority, Database, Merchant, Receiver, on_both_databases};

use super::{Stream, address, attribute, seen};
use crate::browser::Browser;
use crate::hostile::POLICY;
use crate::portal::{ALL, entered};

on_both_databases!(
    a_change_is_told_to_whom_it_concerns,
    a_browser_that_connects_again_is_told_what_it_missed,
    pages_that_show_what_changes_name_their_stream,
    nobody_else_listens,
);

async fn a_change_is_told_to_whom_it_concerns(database: Database) {
    let authority = Authority::on(database, &[]).await;
    let (one, other) =
        (Merchant::create(&authority, "one").await, Merchant::create(&authority, "other").await);
    let receiver = Receiver::accepting().await;
    one.endpoint(&receiver.url("/hook"), &["*"]).await;
    let (mine, theirs) = (entered(&one, ALL).await, entered(&other, ALL).await);
    let console = Browser::signed_in(&authority).await;
    let mut of_mine = Stream::of(&mine, "/portal/events").await;
    let mut of_theirs = Stream::of(&theirs, "/portal/events").await;
    let mut of_all = Stream::of(&console, "/console").await;
    for (name, line) in [
        ("content-type", "text/event-stream"),
        ("cache-control", "no-store"),
        ("x-accel-buffering", "no"),
        ("content-security-policy", &POLICY.to_lowercase()),
    ] {
        assert_eq!(of_mine.header(name), Some(line));
    }
    let before = [seen(&mine, "/portal/events").await, seen(&theirs, "/portal/events").await];
    one.checkout().await;
    authority.nothing_pending().await;
    // The stream tells until it has told of the last change, whose mark is that of the page.
    let settled = seen(&mine, "/portal/events").await;
    assert_ne!(settled, before[0]);
    while of_mine.next().await.unwrap() != settled {}
    assert!(of_all.next().await.is_some());
    // The other merchant hears of its own change first, and of nothing else.
    assert_eq!(seen(&theirs, "/portal/events").await, before[1]);
    other.checkout().await;
    let theirs_now = seen(&theirs, "/portal/events").await;
    assert_eq!(of_theirs.next().await, Some(theirs_now));
}

async fn a_browser_that_connects_again_is_told_what_it_missed(database: Database) {
    let (_authority, merchant) = Merchant::on(database, "acme").await;
    let browser = entered(&merchant, ALL).await;
    let old = browser.page("/portal/events").await;
    merchant.checkout().await;
    let now = seen(&browser, "/portal/events").await;
    let mut late = Stream::ask(&browser, &address(&old), &[]).await;
    assert_eq!(late.next().await, Some(now.clone()), "what changed between the page and its stream");
    // What the browser says that it saw last goes before what the page showed.
    let mut again = Stream::ask(&browser, &address(&old), &[("last-event-id", &now)]).await;
    let mut without = Stream::ask(&browser, "/portal/live?seen=nonsense", &[]).await;
    assert_eq!(without.next().await, Some(now.clone()));
    merchant.checkout().await;
    let newest = seen(&browser, "/portal/events").await;
    assert_eq!(again.next().await, Some(newest));
}

async fn pages_that_show_what_changes_name_their_stream(database: Database) {
    let (authority, merchant) = Merchant::on(database, "acme").await;
    let receiver = Receiver::accepting().await;
    let endpoint = merchant.endpoint(&receiver.url("/hook"), &["*"]).await;
    let number = merchant.paid_order().await;
    authority.nothing_pending().await;
    let found = merchant.operator.get(&format!("/deliveries?endpoint_id={}", endpoint.id)).await.expect(200);
    let text = |name: &str| found["data"][0][name].as_str().unwrap().to_owned();
    let (delivery, event) = (text("id"), text("event_id"));
    let of = format!("/console/live?of={}&mode=test", merchant.id);
    let console = Browser::signed_in(&authority).await;
    let portal = entered(&merchant, ALL).await;
    for (browser, page, stream) in [
        (&console, "/console".to_owned(), "/console/live"),
        (&console, "/console/deliveries?status=succeeded".to_owned(), "/console/live"),
        (&console, format!("/console/orders/{}/test/{number}", merchant.id), &of),
        (&console, format!("/console/events/{event}"), &of),
        (&console, format!("/console/deliveries/{delivery}"), &of),
        (&console, format!("/console/endpoints/{}", endpoint.id), &of),
        (&portal, "/portal".to_owned(), "/portal/live"),
        (&portal, "/portal/events?type=order.created".to_owned(), "/portal/live"),
        (&portal, format!("/portal/events/{event}"), "/portal/live"),
        (&portal, "/portal/deliveries".to_owned(), "/portal/live"),
        (&portal, format!("/portal/deliveries/{delivery}"), "/portal/live"),
        (&portal, format!("/portal/endpoints/{}", endpoint.id), "/portal/live"),
    ] {
        let html = browser.page(&page).await;
        assert_eq!(attribute(&html, "live"), stream, "{page}");
        let root = page.split('/').nth(1).unwrap().split('?').next().unwrap();
        assert!(html.contains(&format!("<script src=\"/{root}/live.js\" defer></script>")), "{html}");
        assert!(html.contains("data-region="), "{html}");
        assert_eq!(Stream::ask(browser, &address(&html), &[]).await.status, 200, "{page}");
    }
    // What does not change by itself has no script.
    for (browser, page) in
        [(&console, "/console/merchants"), (&portal, "/portal/endpoints"), (&portal, "/portal/api-keys")]
    {
        let html = browser.page(page).await;
        assert!(!html.contains("<script") && !html.contains("data-live"), "{html}");
    }
}

async fn nobody_else_listens(database: Database) {
    let (authority, merchant) = Merchant::on(database, "acme").await;
    let (console, portal) = (Browser::signed_in(&authority).await, entered(&merchant, ALL).await);
    for (browser, path, status) in [
        (&console.holding("nonsense"), "/console/live", 303),
        (&portal.holding("nonsense"), "/portal/live", 403),
        (&entered(&merchant, &["payments:read"]).await, "/portal/live", 403),
    ] {
        assert_eq!(Stream::ask(browser, path, &[]).await.status, status, "{path}");
    }
    for line in
        [("sec-fetch-site", "cross-site"), ("sec-fetch-site", "same-site"), ("origin", "http://evil.example")]
    {
        for (browser, path) in [(&console, "/console/live"), (&portal, "/portal/live")] {
            let refused = browser.get_with(path, &[line]).await;
            assert_eq!(refused.status, 403, "{line:?}");
            assert!(refused.text().contains("<code>foreign_request</code>"), "{}", refused.text());
        }
    }
    // A merchant cannot ask for another's stream: the session says whose it is.
    let other = Merchant::create(&authority, "other").await;
    let path = format!("/portal/live?of={}&mode=test&seen={}", other.id, seen(&portal, "/portal").await);
    let mut stream = Stream::ask(&portal, &path, &[]).await;
    other.checkout().await;
    merchant.checkout().await;
    let now = seen(&portal, "/portal").await;
    assert_eq!(stream.next().await, Some(now));
    for nonsense in ["mer_nonsense&mode=test", &format!("{}&mode=x", merchant.id)] {
        let path = format!("/console/live?of={nonsense}");
        assert_eq!(Stream::ask(&console, &path, &[]).await.status, 404, "{path}");
    }
}
