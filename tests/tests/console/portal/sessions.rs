//! Links and sessions: how they begin, and everything that ends them.

use authority_domain::PortalSessionId;
use futures_util::future::join;
use serde_json::json;
use tests::{Database, Merchant, on_both_databases, rows, text};

use super::{ALL, entered, given, is_over, link, link_with, opened, press};
use crate::browser::audit;
use crate::sessions::READER;

on_both_databases!(
    a_link_works_once,
    of_two_at_once_one_gets_in,
    a_link_is_asked_for_like_everything_of_the_operator,
    a_second_link_ends_the_session_that_the_browser_had,
    a_session_ends_by_time,
    a_session_ends_with_the_key_that_made_it,
    a_session_rests_while_its_merchant_does,
    signing_out_ends_a_session_and_leads_back,
);

const SECOND: i64 = 1000;

async fn a_link_works_once(database: Database) {
    let (authority, merchant) = Merchant::on(database, "acme").await;
    let made = link(&merchant, ALL).await;
    let (nobody, path) = given(&made);
    // Whatever looks at it changes nothing.
    for _ in 0..2 {
        let reply = nobody.get(&path).await;
        assert_eq!((reply.status, reply.header("set-cookie")), (200, None), "{}", reply.text());
        assert!(reply.text().contains("This link works once."), "{}", reply.text());
        assert!(!reply.text().contains("acme"), "whose it is, it does not say: {}", reply.text());
    }
    let browser = opened(&made).await;
    assert!(browser.page("/portal").await.contains("<bdi>acme (test)</bdi>"));
    // Used, never made, malformed: the same page, to the byte.
    let over = nobody.get(&path).await;
    assert!(is_over(&over), "{}", over.text());
    for path in [path.as_str(), &format!("/portal/enter/{}", "0".repeat(64)), "/portal/enter/x"] {
        assert_eq!(nobody.get(path).await.text(), over.text(), "{path}");
        assert_eq!(press(&nobody, path).await.text(), over.text(), "{path}");
    }
    assert_eq!(nobody.get("/portal").await.text(), over.text());
    assert_eq!(nobody.get("/portal/endpoints").await.text(), over.text());
    for cookie in ["", "00", &"0".repeat(64), path.trim_start_matches("/portal/enter/")] {
        assert!(is_over(&browser.holding(cookie).get("/portal").await), "{cookie}");
    }
    let entries = audit(&authority).await;
    let id = text(&made, "id");
    assert!(PortalSessionId::parse(&id).is_some(), "{id}");
    assert_eq!(entries[0], ("portal.sign_in".to_owned(), id.clone()));
    assert_eq!(entries[1].0, "portal_sessions.create");
    let of_session = merchant.operator.get(&format!("/audit-log?key_id={id}")).await.expect(200);
    assert_eq!(rows(&of_session).len(), 1);
    assert_eq!(of_session["data"][0]["merchant_id"], merchant.id.as_str());
}

async fn of_two_at_once_one_gets_in(database: Database) {
    let (_authority, merchant) = Merchant::on(database, "acme").await;
    let (browser, path) = given(&link(&merchant, ALL).await);
    let (one, other) = join(press(&browser, &path), press(&browser, &path)).await;
    let mut statuses = [one.status, other.status];
    statuses.sort_unstable();
    assert_eq!(statuses, [303, 403]);
}

async fn a_link_is_asked_for_like_everything_of_the_operator(database: Database) {
    let (authority, merchant) = Merchant::on(database, "acme").await;
    let path = merchant.platform_path("portal-sessions");
    let operator = &merchant.operator;
    let body = json!({ "scopes": ["webhooks:manage", "events:read"], "expires_in_seconds": 60,
        "return_url": "http://localhost:3000/settings" });
    let first = operator.post_as("link-1", &path, &body).await.expect(201);
    let mut members: Vec<_> = first.as_object().unwrap().keys().map(String::as_str).collect();
    members.sort_unstable();
    assert_eq!(
        members,
        [
            "created_at",
            "expires_at",
            "id",
            "livemode",
            "merchant_id",
            "object",
            "return_url",
            "scopes",
            "url"
        ]
    );
    assert_eq!(first["scopes"], json!(["events:read", "webhooks:manage"]));
    // The same request has the same link, and another one under the key has none.
    assert_eq!(operator.post_as("link-1", &path, &body).await.expect(201), first);
    let other = json!({ "scopes": ["events:read"] });
    operator.post_as("link-1", &path, &other).await.refused(422, "idempotency_key_reused");
    for wrong in [
        json!({}),
        json!({ "scopes": ["keys:write"] }),
        json!({ "scopes": ["events:read"], "expires_in_seconds": 86_401 }),
        json!({ "scopes": ["events:read"], "return_url": "javascript:alert(1)" }),
    ] {
        operator.post(&path, &wrong).await.refused(422, "validation_failed");
    }
    let live = format!("/merchants/{}/live/portal-sessions", merchant.id);
    operator.post(&live, &body).await.refused(422, "validation_failed");
    for nobody in ["mer_01k3zqa7t0e9h8w8r1v0c2n5xk/test", "nonsense/test"] {
        let path = format!("/merchants/{nobody}/portal-sessions");
        operator.post(&path, &other).await.refused(404, "not_found");
    }
    let reader = authority.new_operator_key("r", READER).await;
    let reader = operator.with_key(Some(&text(&reader, "key")));
    reader.post(&path, &other).await.refused(403, "insufficient_scope");
    authority.merchant(&merchant.key).post("/portal-sessions", &other).await.refused(404, "route_not_found");
    set_status(&merchant, "closed").await;
    operator.post(&path, &other).await.refused(409, "merchant_closed");
}

pub(crate) async fn set_status(merchant: &Merchant, status: &str) {
    let path = format!("/merchants/{}", merchant.id);
    merchant.operator.patch(&path, &json!({ "status": status })).await.expect(200);
}

async fn a_second_link_ends_the_session_that_the_browser_had(database: Database) {
    let (authority, merchant) = Merchant::on(database, "acme").await;
    let first = link(&merchant, ALL).await;
    let (browser, elsewhere) = (opened(&first).await, entered(&merchant, ALL).await);
    let (_, path) = given(&link(&merchant, ALL).await);
    let reply = press(&browser, &path).await;
    assert_eq!(reply.status, 303);
    let (pair, _) = reply.header("set-cookie").unwrap().split_once("; ").unwrap();
    let second = browser.holding(pair.strip_prefix("portal_session=").unwrap());
    assert_eq!(second.get("/portal").await.status, 200);
    assert!(is_over(&browser.get("/portal").await), "nobody could end it any more");
    assert_eq!(elsewhere.get("/portal").await.status, 200);
    assert_eq!(audit(&authority).await[0], ("portal.sign_out".to_owned(), text(&first, "id")));
    // A link that opens nothing ends nothing.
    assert!(is_over(&press(&second, &path).await));
    assert_eq!(second.get("/portal").await.status, 200);
}

async fn a_session_ends_by_time(database: Database) {
    let (service, merchant) = Merchant::inside(database, &[], "acme").await;
    let minute = json!({ "scopes": ALL, "expires_in_seconds": 60 });
    let (early, late) = (link_with(&merchant, minute.clone()).await, link_with(&merchant, minute).await);
    let hour = entered(&merchant, ALL).await;
    service.clock.turn(59 * SECOND);
    let browser = opened(&early).await;
    assert_eq!(browser.get("/portal").await.status, 200);
    // From the making of the link, not from its opening.
    service.clock.turn(SECOND);
    assert!(is_over(&browser.get("/portal").await));
    let (nobody, path) = given(&late);
    assert!(is_over(&nobody.get(&path).await));
    assert!(is_over(&press(&nobody, &path).await));
    assert_eq!(hour.get("/portal").await.status, 200);
    service.clock.turn(3540 * SECOND);
    assert!(is_over(&hour.get("/portal").await));
    service.stop().await;
}

async fn a_session_ends_with_the_key_that_made_it(database: Database) {
    let (authority, merchant) = Merchant::on(database, "acme").await;
    let key = authority.new_operator_key("platform", &["keys:write"]).await;
    let maker =
        Merchant { operator: merchant.operator.with_key(Some(&text(&key, "key"))), ..merchant.clone() };
    let (browser, unopened) = (entered(&maker, ALL).await, link(&maker, ALL).await);
    let other = entered(&merchant, ALL).await;
    assert_eq!(browser.get("/portal").await.status, 200);
    authority.revoke_operator_key(&text(&key, "id")).await;
    assert!(is_over(&browser.get("/portal").await));
    let (nobody, path) = given(&unopened);
    assert!(is_over(&press(&nobody, &path).await));
    assert_eq!(other.get("/portal").await.status, 200);
}

async fn a_session_rests_while_its_merchant_does(database: Database) {
    let (_authority, merchant) = Merchant::on(database, "acme").await;
    let (browser, unopened) = (entered(&merchant, ALL).await, link(&merchant, ALL).await);
    let (nobody, path) = given(&unopened);
    set_status(&merchant, "suspended").await;
    assert!(is_over(&browser.get("/portal").await));
    assert!(is_over(&press(&nobody, &path).await));
    set_status(&merchant, "active").await;
    assert_eq!(browser.get("/portal").await.status, 200);
    assert_eq!(press(&nobody, &path).await.status, 303);
    set_status(&merchant, "closed").await;
    assert!(is_over(&browser.get("/portal").await));
}

async fn signing_out_ends_a_session_and_leads_back(database: Database) {
    let (authority, merchant) = Merchant::on(database, "acme").await;
    let back = "https://shop.example/settings?a=b&c=%22%3E";
    let made = link_with(&merchant, json!({ "scopes": ALL, "return_url": back })).await;
    let (browser, other) = (opened(&made).await, entered(&merchant, ALL).await);
    let anchor = "<a href=\"https://shop.example/settings?a=b&#38;c=%22%3E\">";
    assert!(browser.page("/portal").await.contains(anchor));
    let out = browser.send("/portal", "/portal/sign-out", &[]).await;
    assert_eq!(out.status, 200, "{}", out.text());
    assert!(out.text().contains("You are signed out") && out.text().contains(anchor), "{}", out.text());
    let gone = "portal_session=; Path=/portal; HttpOnly; Secure; SameSite=Strict; Max-Age=0";
    assert_eq!(out.header("set-cookie"), Some(gone));
    let over = browser.get("/portal").await;
    assert!(is_over(&over) && !over.text().contains("shop.example"), "{}", over.text());
    assert_eq!(other.get("/portal").await.status, 200);
    assert_eq!(audit(&authority).await[0], ("portal.sign_out".to_owned(), text(&made, "id")));
}

/// Beyond what an address may get wrong, links and sessions are no longer looked for.
#[tokio::test]
async fn wrong_links_are_counted_like_wrong_keys() {
    let (_authority, merchant) = Merchant::alone_with(&[("AUTHORITY_RATE_LIMITS", "on")], "acme").await;
    let browser = entered(&merchant, ALL).await;
    let wrong = browser.holding(&"0".repeat(64));
    let mut asked = 0;
    while wrong.get("/portal").await.status != 429 {
        asked += 1;
        assert!(asked < 1000, "never refused");
    }
    assert!(asked > 5, "{asked}");
    let link = browser.get("/portal/enter/nonsense").await;
    assert_eq!(link.status, 429, "one bucket for both");
    assert!(link.text().contains("<code>rate_limited</code>"), "{}", link.text());
    assert_eq!(browser.get("/portal").await.status, 200, "a session from the same address goes on");
}
