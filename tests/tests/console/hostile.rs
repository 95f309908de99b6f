//! Texts that act on nothing, paths that lead nowhere, and the headers that every answer has.

use serde_json::{Value, json};
use tests::{
    Answer, Authority, Database, Endpoint, Merchant, Receiver, Reply, SCOPES, on_both_databases,
    payment_body, retries, text,
};

use crate::browser::{Browser, encoded};

on_both_databases!(texts_of_others_are_texts, what_is_not_there_is_a_page_that_says_so);

/// What a page may load.
pub(crate) const POLICY: &str = "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self'; img-src 'self' data:; form-action 'self'; \
                      frame-ancestors 'none'; base-uri 'none'";

/// A page without what its inputs hold, which acts on nothing but the input.
fn without_values(html: &str) -> String {
    let mut parts = html.split(" value=\"");
    let first = parts.next().unwrap().to_owned();
    parts.fold(first, |rest, part| rest + part.split_once('"').unwrap().1)
}

/// Sees that an answer has the headers that every answer has.
pub(crate) fn has_the_headers(reply: &Reply) {
    for (name, line) in [
        ("content-security-policy", POLICY),
        ("referrer-policy", "no-referrer"),
        ("x-frame-options", "DENY"),
        ("x-content-type-options", "nosniff"),
        ("cache-control", "no-store"),
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
    ] {
        assert_eq!(reply.header(name), Some(line), "{} {}", reply.status, reply.text());
    }
}

/// What a merchant, its customers and its receiver may write to act on whoever reads it.
pub(crate) const HOSTILE: &str =
    "</bdi><script>alert(1)</script>\"' onmouseover=x \u{202e}gpj.exe\u{2066} \u{200b}&amp;";

/// That nothing of [`HOSTILE`] acts on a page of the listener whose pages are below `root`.
pub(crate) async fn acts_on_nothing(browser: &Browser, root: &str, path: &str) {
    // The one script that a page may have.
    let own_script = format!("<script src=\"{root}/live.js\" defer></script>");
    let html = without_values(browser.get(path).await.text()).replace(&own_script, "");
    for acting in ["<script", "<b>", "</bdi>\"", "\u{202e}", "\u{2066}", "\u{200b}", "http-equiv", "whsec_"] {
        assert!(!html.contains(acting), "{path} has {acting:?}: {html}");
    }
    assert!(!html.contains("<bdi></bdi>"), "{path}");
}

/// That a page shows [`HOSTILE`], and how it is written.
pub(crate) fn shows_it_as_text(html: &str) {
    assert!(html.contains("&lt;/bdi&gt;&lt;script&gt;alert(1)&lt;/script&gt;"), "{html}");
    assert!(html.contains("<span class=\"code\">U+202E</span>gpj.exe<span class=\"code\">U+2066</span>"));
}

/// A merchant whose every text is [`HOSTILE`], with a checkout, and its endpoint, whose receiver answers so too.
pub(crate) async fn hostile_merchant(authority: &Authority) -> (Merchant, Endpoint, Receiver, Value) {
    let body = json!({ "slug": "acme", "name": HOSTILE, "default_currency": "USD" });
    let made = authority.operator().post("/merchants", &body).await.expect(201);
    let mut merchant = Merchant::create(authority, "other").await;
    merchant.id = text(&made, "id");
    merchant.key = merchant.issue_key("test", &SCOPES).await;
    merchant.api = authority.merchant(&merchant.key);
    let receiver = Receiver::start(move |_| Answer::status(500).with_body(HOSTILE)).await;
    let url = receiver.url("/a?<script>\"'");
    let body = json!({ "url": url, "enabled_events": ["*"], "description": HOSTILE });
    let endpoint = merchant.endpoint_with(body).await;
    let line = json!({ "name": HOSTILE, "quantity": 1, "unit_amount": 100 });
    let checkout = json!({ "currency": "USD", "line_items": [line],
        "customer": { "name": HOSTILE, "reference": HOSTILE }, "metadata": { "note": HOSTILE } });
    let checkout = merchant.operator.post(&merchant.platform_path("checkouts"), &checkout).await.expect(201);
    (merchant, endpoint, receiver, checkout)
}

async fn texts_of_others_are_texts(database: Database) {
    let authority = Authority::on(database, &[retries("0,0")]).await;
    let (merchant, endpoint, _receiver, checkout) = hostile_merchant(&authority).await;
    let mut body = payment_body(&checkout, "automatic", "start");
    body["processor"] = json!({ "name": "acme-pay", "reference": HOSTILE });
    let payment = merchant.operator.post(&merchant.platform_path("payments"), &body).await.expect(201);
    let number = text(&merchant.report(&payment, "succeeded").await["payment"], "order_number");
    merchant.note(&number, HOSTILE).await;
    let parcel = json!({ "carrier": "dhl", "tracking_number": "x\"><b>" });
    merchant.api.post(&format!("/orders/{number}/shipments"), &parcel).await.expect(201);
    authority.nothing_pending().await;
    let browser = Browser::signed_in(&authority).await;
    let deliveries =
        merchant.operator.get(&format!("/deliveries?endpoint_id={}", endpoint.id)).await.expect(200);
    let delivery = &deliveries["data"][0];
    for path in [
        "/console".to_owned(),
        format!("/console/search?q={}", encoded(HOSTILE)),
        format!("/console/search?q={}x", encoded(HOSTILE)),
        format!("/console/orders/{}/test/{number}", merchant.id),
        format!("/console/merchants/{}?mode=test", merchant.id),
        "/console/merchants".to_owned(),
        format!("/console/endpoints/{}", endpoint.id),
        format!("/console/events/{}", text(delivery, "event_id")),
        format!("/console/deliveries/{}", text(delivery, "id")),
        format!("/console/records/{}", text(&payment, "id")),
        format!("/console/records/{}", text(&checkout, "id")),
        format!("/console/audit-log?author={0}&resource={0}", encoded(HOSTILE)),
        format!("/console/alerts?status={}", encoded(HOSTILE)),
        format!("/console/deliveries?status={0}&endpoint={0}", encoded(HOSTILE)),
        format!("/console/sign-in?to={}", encoded(HOSTILE)),
        format!("/console?done={}", encoded(HOSTILE)),
    ] {
        acts_on_nothing(&browser, "/console", &path).await;
    }
    let order = browser.page(&format!("/console/orders/{}/test/{number}", merchant.id)).await;
    shows_it_as_text(&order);
    // No secret is on any of these pages.
    let page = browser.page(&format!("/console/endpoints/{}", endpoint.id)).await;
    assert!(!page.contains(&endpoint.secret) && !page.contains("whsec_"), "{page}");
}

async fn what_is_not_there_is_a_page_that_says_so(database: Database) {
    let (authority, merchant) = Merchant::on(database, "acme").await;
    let number = merchant.paid_order().await;
    let browser = Browser::signed_in(&authority).await;
    let mer = &merchant.id;
    for path in [
        format!("/console/orders/{mer}/live/{number}"),
        format!("/console/orders/{mer}/test/{number}x"),
        format!("/console/orders/{mer}/nonsense/{number}"),
        "/console/orders/mer_01k3zqa7t0e9h8w8r1v0c2n5xk/test/1".to_owned(),
        "/console/orders/operator/test/1".to_owned(),
        "/console/events/evt_01k3zqa7t0e9h8w8r1v0c2n5xk".to_owned(),
        "/console/events/%FF".to_owned(),
        "/console/deliveries/dlv_01k3zqa7t0e9h8w8r1v0c2n5xk".to_owned(),
        "/console/endpoints/we_01k3zqa7t0e9h8w8r1v0c2n5xk".to_owned(),
        "/console/endpoints/nonsense".to_owned(),
        "/console/merchants/nonsense".to_owned(),
        "/console/records/pay_01k3zqa7t0e9h8w8r1v0c2n5xk".to_owned(),
        format!("/console/records/{mer}"),
        "/console/nothing/here".to_owned(),
    ] {
        let reply = browser.get(&path).await;
        assert_eq!(reply.status, 404, "{path}: {} {}", reply.status, reply.text());
    }
    let wrong = browser.get("/console/merchants?cursor=nonsense").await;
    assert_eq!(wrong.status, 400);
    assert!(wrong.text().contains("<code>invalid_cursor</code>"), "{}", wrong.text());
    // Every answer has the headers, whoever asks.
    let nobody = Browser::new(&authority);
    for reply in [
        browser.get("/console").await,
        browser.get("/console/nothing/here").await,
        browser.get("/console/style.css").await,
        browser.get("/console/live.js").await,
        nobody.get("/console").await,
        nobody.get("/console/sign-in").await,
        nobody.sign_in("nonsense", "").await,
        browser.post("/console/sign-out", &[], &[]).await,
        browser.get("/console/sign-out").await,
    ] {
        has_the_headers(&reply);
        assert!(reply.header("service-request-id").is_some());
    }
}
