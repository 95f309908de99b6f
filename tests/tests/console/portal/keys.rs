//! The keys of the merchant and mode, as the portal shows them.

use serde_json::{Value, json};
use tests::{Authority, Database, Merchant, on_both_databases, rows, text, texts};

use super::{ALL, entered, opened};
use crate::browser::{Browser, hidden};
use crate::hostile::{HOSTILE, acts_on_nothing, shows_it_as_text};

on_both_databases!(
    keys_are_shown_without_the_key,
    keys_of_others_and_of_the_other_mode_are_not_there,
    who_does_not_manage_webhooks_sees_no_keys,
    many_keys_go_on_behind_a_link,
);

const PAGE: &str = "/portal/api-keys";

/// A new key of the merchant, as the operator sees it this once.
async fn issued(merchant: &Merchant, body: Value) -> Value {
    merchant.operator.post(&format!("/merchants/{}/api-keys", merchant.id), &body).await.expect(201)
}

async fn named(merchant: &Merchant, mode: &str, name: &str) -> Value {
    issued(merchant, json!({ "name": name, "mode": mode, "scopes": ["orders:read"] })).await
}

async fn rotated(merchant: &Merchant, key: &Value, overlap_seconds: i64) -> Value {
    let path = format!("/api-keys/{}/rotate", text(key, "id"));
    merchant.operator.post(&path, &json!({ "overlap_seconds": overlap_seconds })).await.expect(201)
}

/// A session of the merchant's live data.
async fn live(merchant: &Merchant) -> Browser {
    let path = format!("/merchants/{}/live/portal-sessions", merchant.id);
    opened(&merchant.operator.post(&path, &json!({ "scopes": ALL })).await.expect(201)).await
}

/// A row of the table, as the page writes the operator's record.
fn row(key: &Value) -> String {
    let at = |name: &str| match key[name].as_str() {
        None => "<span class=\"none\">–</span>".to_owned(),
        Some(at) => {
            let (day, rest) = at.split_once('T').unwrap();
            let (clock, _) = rest.split_once('.').unwrap();
            format!("<time datetime=\"{at}\">{day} {clock}</time>")
        }
    };
    let scopes: Vec<&str> = key["scopes"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    let cells = [
        format!("<bdi>{}</bdi>", text(key, "display")),
        format!("<bdi>{}</bdi>", scopes.join(", ")),
        format!("<span class=\"state {0}\"><bdi>{0}</bdi></span>", text(key, "status")),
        at("created_at"),
        at("last_used_at"),
        at("expires_at"),
    ];
    let cells: String = cells.iter().map(|cell| format!("<td>{cell}</td>")).collect();
    format!("<tr><th scope=\"row\"><bdi>{}</bdi></th>{cells}</tr>", text(key, "name"))
}

async fn keys_are_shown_without_the_key(database: Database) {
    let (mut authority, merchant) = Merchant::on(database, "acme").await;
    let ends = json!({ "name": "ends", "mode": "test", "scopes": ["refunds:write", "orders:read"],
        "expires_at": "2999-01-01T00:00:00Z" });
    let mut made = vec![issued(&merchant, ends).await, named(&merchant, "live", "live till").await];
    for (name, overlap_seconds) in [("till", 3600), ("old till", 0)] {
        let before = named(&merchant, "test", name).await;
        made.extend([rotated(&merchant, &before, overlap_seconds).await, before]);
    }
    let leaked = named(&merchant, "test", "leaked").await;
    let revoke = format!("/api-keys/{}/revoke", text(&leaked, "id"));
    made.push(leaked);
    merchant.operator.post(&revoke, &json!({ "reason": "found in a log" })).await.expect(200);
    merchant.api.get("/orders").await.expect(200);
    // What was used is written when the service stops at the latest.
    authority.terminate().await;
    authority.restart().await;
    let merchant = merchant.at(&authority);

    let found = merchant.operator.get(&format!("/merchants/{}/api-keys", merchant.id)).await.expect(200);
    let of_mode: Vec<&Value> = rows(&found).iter().filter(|key| key["livemode"] == false).collect();
    let mut states: Vec<String> = of_mode.iter().map(|key| text(key, "status")).collect();
    states.sort_unstable();
    assert_eq!(states, ["active", "active", "active", "active", "expired", "expiring", "revoked"]);
    assert_eq!(of_mode.iter().filter(|key| key["last_used_at"].is_string()).count(), 1);
    let browser = entered(&merchant, ALL).await;
    let html = browser.page(PAGE).await;
    let head = "<thead><tr><th scope=\"col\">Name</th><th scope=\"col\">Key</th><th scope=\"col\">Scopes</th>\
         <th scope=\"col\">Status</th><th scope=\"col\">Created</th><th scope=\"col\">Last used</th>\
         <th scope=\"col\">Expires</th></tr></thead>";
    assert!(html.contains("<caption>API keys, newest first</caption>") && html.contains(head), "{html}");
    let (_, body) = html.split_once("<tbody>").unwrap();
    let shown: Vec<&str> = body.split_once("</tbody>").unwrap().0.trim().lines().collect();
    let expected: Vec<String> = of_mode.iter().map(|key| row(key)).collect();
    assert_eq!(shown, expected);
    // Neither a key nor the id of one: the operator's, who made them, has the same form.
    assert!(!html.contains("key_"), "{html}");
    for key in made.iter().map(|key| text(key, "key")).chain([merchant.key.clone()]) {
        assert!(!html.contains(&key[9..]), "{key}: {html}");
    }
    only_shows(&browser, &html).await;
}

/// That the page has no form but the way out, and that its address takes none.
async fn only_shows(browser: &Browser, html: &str) {
    assert_eq!(html.matches("<form").count(), 1, "{html}");
    let form = hidden(html, "/portal/sign-out").unwrap();
    let typed = [("name", "mine"), ("mode", "test"), ("scopes", "orders:read")];
    assert_eq!(browser.send_again(PAGE, &form, &typed).await.status, 405);
    assert_eq!(browser.page(PAGE).await, html);
}

async fn keys_of_others_and_of_the_other_mode_are_not_there(database: Database) {
    let authority = Authority::on(database, &[]).await;
    let (merchant, other) =
        (Merchant::create(&authority, "acme").await, Merchant::create(&authority, "other").await);
    named(&merchant, "test", "test of acme").await;
    named(&other, "test", "test of other").await;
    let (tests, lives, others) =
        (entered(&merchant, ALL).await, live(&merchant).await, entered(&other, ALL).await);
    let nothing = lives.page(PAGE).await;
    assert!(nothing.contains("<p class=\"none\">There is no API key yet.</p>"), "{nothing}");
    assert!(!nothing.contains("<table"), "{nothing}");
    named(&merchant, "live", "live of acme").await;
    for (browser, own, keys) in
        [(&tests, "test of acme", 2), (&lives, "live of acme", 1), (&others, "test of other", 2)]
    {
        let html = browser.page(PAGE).await;
        for name in ["test of acme", "live of acme", "test of other"] {
            assert_eq!(html.contains(&format!("<bdi>{name}</bdi>")), name == own, "{name}: {html}");
        }
        assert_eq!(html.matches("<th scope=\"row\">").count(), keys, "{html}");
        // A query names nobody.
        for asked in [&merchant.id, &other.id] {
            let named = format!("{PAGE}?merchant={asked}&merchant_id={asked}&mode=live&livemode=true");
            assert_eq!(browser.page(&named).await, html);
        }
    }
}

async fn who_does_not_manage_webhooks_sees_no_keys(database: Database) {
    let (_authority, merchant) = Merchant::on(database, "acme").await;
    let place = format!("<a href=\"{PAGE}\">API keys</a>");
    let keeper = entered(&merchant, &["webhooks:manage"]).await;
    assert!(keeper.page("/portal").await.contains(&place));
    assert!(keeper.page(PAGE).await.contains("<caption>API keys"));
    let every_other: Vec<&str> =
        tests::SCOPES.iter().copied().filter(|scope| *scope != "webhooks:manage").collect();
    for scopes in [&["events:read"][..], &["orders:read"], &every_other] {
        let reader = entered(&merchant, scopes).await;
        assert!(!reader.page("/portal").await.contains(PAGE), "{scopes:?}");
        let refused = reader.get(PAGE).await;
        assert_eq!(refused.status, 403, "{scopes:?}");
        assert!(refused.text().contains("<code>insufficient_scope</code>"), "{}", refused.text());
        assert!(!refused.text().contains("svc_test_"), "{}", refused.text());
    }
    // A name that the operator gave is a text like any other.
    named(&merchant, "test", HOSTILE).await;
    acts_on_nothing(&keeper, "/portal", PAGE).await;
    shows_it_as_text(&keeper.page(PAGE).await);
}

async fn many_keys_go_on_behind_a_link(database: Database) {
    let (authority, merchant) = Merchant::on(database, "acme").await;
    for n in 0..26 {
        named(&merchant, "test", &format!("key {n}")).await;
    }
    let browser = entered(&merchant, ALL).await;
    let names = |html: &str| -> Vec<String> {
        let cells = html.split("<th scope=\"row\"><bdi>").skip(1);
        cells.map(|cell| cell.split_once("</bdi>").unwrap().0.to_owned()).collect()
    };
    let first = browser.page(PAGE).await;
    assert_eq!(names(&first).len(), 25);
    let (_, link) = first.split_once("rel=\"next\" href=\"").unwrap();
    let next = link.split_once('"').unwrap().0.to_owned();
    let last = browser.page(&next).await;
    assert!(!last.contains("rel=\"next\""), "{last}");
    let all = format!("/merchants/{}/api-keys?limit=100", merchant.id);
    let all = texts(rows(&merchant.operator.get(&all).await.expect(200)), "name");
    assert_eq!([names(&first), names(&last)].concat(), all);
    // The cursor is this merchant's, in this mode.
    let other = Merchant::create(&authority, "other").await;
    for stranger in [live(&merchant).await, entered(&other, ALL).await] {
        let refused = stranger.get(&next).await;
        assert_eq!(refused.status, 400, "{}", refused.text());
        assert!(refused.text().contains("<code>invalid_cursor</code>"), "{}", refused.text());
    }
}
