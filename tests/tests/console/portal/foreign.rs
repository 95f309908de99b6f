//! What belongs to others, what a scope leaves out, forms of other sites, texts that act on nothing, and the headers.

use serde_json::{Value, json};
use tests::{Authority, Database, Endpoint, Merchant, Receiver, on_both_databases, retries, rows, text};

use super::{ALL, entered, link_with, opened};
use crate::browser::{Browser, audit, encoded, hidden};
use crate::hostile::{HOSTILE, acts_on_nothing, has_the_headers, hostile_merchant, shows_it_as_text};
use crate::sessions::refuses_forms_of_others;

on_both_databases!(
    what_is_anothers_is_not_there,
    a_session_sees_and_does_what_its_scopes_allow,
    a_form_of_anybody_else_does_nothing,
    texts_of_others_are_texts,
    every_answer_has_the_headers_and_is_small,
);

/// Every page and form of a record that a merchant has.
fn paths(endpoint: &Endpoint, delivery: &Value) -> (Vec<String>, Vec<String>) {
    let one = format!("/portal/endpoints/{}", endpoint.id);
    let event = format!("/portal/events/{}", text(delivery, "event_id"));
    let delivery = format!("/portal/deliveries/{}", text(delivery, "id"));
    let list = format!("/portal/deliveries?endpoint={}", endpoint.id);
    let forms =
        ["change", "disable", "enable", "rotate", "retire", "test", "recover/count", "recover", "explain"];
    let mut posts: Vec<String> = forms.iter().map(|form| format!("{one}/{form}")).collect();
    posts.extend([format!("{event}/replay"), format!("{delivery}/retry")]);
    let more = ["explain", "undelivered", "recoveries"].map(|page| format!("{one}/{page}"));
    let pages = [one, event, delivery, list].into_iter().chain(more).collect();
    (pages, posts)
}

async fn what_is_anothers_is_not_there(database: Database) {
    let authority = Authority::on(database, &[retries("0")]).await;
    let (merchant, other) =
        (Merchant::create(&authority, "acme").await, Merchant::create(&authority, "other").await);
    let receiver = Receiver::accepting().await;
    let sink = json!({ "url": receiver.url("/sink"), "enabled_events": ["*"] });
    let sink = authority.operator().post("/sink", &sink).await.expect(201);
    let endpoint = other.endpoint(&receiver.url("/hook"), &["*"]).await;
    other.paid_order().await;
    authority.nothing_pending().await;
    let delivery = other.deliveries(&endpoint).await.remove(0);
    let (pages, posts) = paths(&endpoint, &delivery);
    let own = entered(&other, ALL).await;
    for page in &pages {
        let html = own.page(page).await;
        assert!(!html.contains("/sink"), "the platform's own endpoint is none of theirs: {html}");
    }
    let live = format!("/merchants/{}/live/portal-sessions", other.id);
    let live = opened(&other.operator.post(&live, &json!({ "scopes": ALL })).await.expect(201)).await;
    let before = other.endpoint_now(&endpoint).await;
    let done = audit(&authority).await.len();
    for stranger in [entered(&merchant, ALL).await, live] {
        let form = hidden(&stranger.page("/portal/endpoints").await, "/portal/endpoints").unwrap();
        for page in &pages {
            let reply = stranger.get(page).await;
            assert_eq!(reply.status, 404, "{page}: {}", reply.text());
        }
        for post in &posts {
            let typed = [
                ("url", "https://evil.example/"),
                ("events", "*"),
                ("overlap_hours", "0"),
                ("since", "2020-01-01T00:00:00Z"),
            ];
            let reply = stranger.send_again(post, &form, &typed).await;
            assert_eq!(reply.status, 404, "{post}: {}", reply.text());
        }
        let html = stranger.page("/portal/events").await;
        assert!(!html.contains(&text(&delivery, "event_id")), "{html}");
    }
    let of_platform = format!("/portal/endpoints/{}", text(&sink, "id"));
    assert_eq!(own.get(&of_platform).await.status, 404);
    assert_eq!(other.endpoint_now(&endpoint).await, before);
    let entries = audit(&authority).await;
    let new = &entries[..entries.len() - done];
    assert!(new.iter().all(|(operation, _)| operation.starts_with("portal")), "{new:?}");
}

async fn a_session_sees_and_does_what_its_scopes_allow(database: Database) {
    let (authority, merchant) = Merchant::on(database, "acme").await;
    let receiver = Receiver::accepting().await;
    let endpoint = merchant.endpoint(&receiver.url("/hook"), &["*"]).await;
    merchant.paid_order().await;
    authority.nothing_pending().await;
    let delivery = merchant.deliveries(&endpoint).await.remove(0);
    let event = format!("/portal/events/{}", text(&delivery, "event_id"));
    let (pages, posts) = paths(&endpoint, &delivery);
    let reader = entered(&merchant, &["events:read"]).await;
    let (home, html) = (reader.page("/portal").await, reader.page(&event).await);
    for page in [&home, &html] {
        assert_eq!(page.matches("method=\"post\"").count(), 1, "signing out alone: {page}");
        assert!(!page.contains("/portal/endpoints") && !page.contains("/hook"), "{page}");
    }
    let events = merchant.api.get("/events").await.expect(200);
    let of_the_day = |count: usize| format!("Events by hour in the last 24 hours: {count}.");
    assert!(home.contains(&of_the_day(rows(&events).len())), "{home}");
    let form = hidden(&home, "/portal/sign-out").unwrap();
    let insufficient = |reply: &tests::Reply| {
        reply.status == 403 && reply.text().contains("<code>insufficient_scope</code>")
    };
    for page in pages.iter().filter(|page| **page != event) {
        assert!(insufficient(&reader.get(page).await), "{page}");
    }
    for post in posts.iter().chain(["/portal/endpoints".to_owned()].iter()) {
        let reply = reader.send_again(post, &form, &[]).await;
        assert!(insufficient(&reply), "{post}: {}", reply.text());
    }
    let keeper = entered(&merchant, &["webhooks:manage"]).await;
    assert!(insufficient(&keeper.get("/portal/events").await));
    assert!(insufficient(&keeper.get(&event).await));
    let home = keeper.page("/portal").await;
    assert!(!home.contains("/portal/events") && !home.contains("Events by hour"), "{home}");
    assert_eq!(keeper.get(&format!("/portal/endpoints/{}", endpoint.id)).await.status, 200);
    let stranger = entered(&merchant, &["orders:read"]).await;
    assert!(stranger.page("/portal").await.contains("Your link shows nothing here."));
}

async fn a_form_of_anybody_else_does_nothing(database: Database) {
    let (authority, merchant) = Merchant::on(database, "acme").await;
    let endpoint = merchant.endpoint("http://127.0.0.1:9/hook", &["*"]).await;
    let (browser, other) = (entered(&merchant, ALL).await, entered(&merchant, ALL).await);
    let page = format!("/portal/endpoints/{}", endpoint.id);
    let action = format!("{page}/disable");
    refuses_forms_of_others(&browser, &other, &page, &action).await;
    // Nor is a link opened by a form of another site.
    let made = link_with(&merchant, json!({ "scopes": ALL })).await;
    let (nobody, link) = super::given(&made);
    let reply = nobody.post(&link, &[], &[("sec-fetch-site", "cross-site")]).await;
    assert_eq!((reply.status, reply.header("set-cookie")), (403, None));
    opened(&made).await;
    // The cookie is nothing to the API, nor the link to the console.
    assert_eq!(browser.get("/v1/merchant/events").await.status, 401);
    assert_eq!(merchant.endpoint_now(&endpoint).await["status"], "enabled");
    assert!(audit(&authority).await.iter().all(|(operation, _)| operation != "endpoints.change"));
}

async fn texts_of_others_are_texts(database: Database) {
    let authority = Authority::on(database, &[retries("0")]).await;
    let (merchant, endpoint, _receiver, _) = hostile_merchant(&authority).await;
    authority.nothing_pending().await;
    let delivery = merchant.deliveries(&endpoint).await.remove(0);
    let browser = entered(&merchant, ALL).await;
    let (mut pages, _) = paths(&endpoint, &delivery);
    pages.extend([
        "/portal".to_owned(),
        "/portal/endpoints".to_owned(),
        "/portal/events".to_owned(),
        "/portal/api-keys".to_owned(),
        format!("/portal/events?type={}", encoded(HOSTILE)),
        format!("/portal/deliveries?status={0}&endpoint={0}", encoded(HOSTILE)),
        format!("/portal/endpoints/{}", encoded(HOSTILE)),
        format!("/portal/enter/{}", encoded(HOSTILE)),
        format!("/portal?done={0}&follow={0}", encoded(HOSTILE)),
    ]);
    for path in pages {
        acts_on_nothing(&browser, "/portal", &path).await;
    }
    let page = browser.page(&format!("/portal/deliveries/{}", text(&delivery, "id"))).await;
    shows_it_as_text(&page);
}

async fn every_answer_has_the_headers_and_is_small(database: Database) {
    let (authority, merchant) = Merchant::on(database, "acme").await;
    let receiver = Receiver::accepting().await;
    let endpoint = merchant.endpoint(&receiver.url("/hook"), &["*"]).await;
    merchant.paid_orders(9).await;
    authority.nothing_pending().await;
    let delivery = merchant.deliveries(&endpoint).await.remove(0);
    let browser = entered(&merchant, ALL).await;
    let (pages, _) = paths(&endpoint, &delivery);
    let lists = ["/portal/endpoints", "/portal/events", "/portal/deliveries", "/portal/api-keys"];
    let all = ["/portal"].into_iter().chain(lists).map(str::to_owned).collect::<Vec<_>>();
    for path in pages.iter().chain(&all) {
        let size = browser.page(path).await.len();
        assert!(size <= 60 * 1024, "{path} has {size} bytes");
    }
    let rows = |html: &str| html.matches("<th scope=\"row\">").count();
    let page = browser.page("/portal/events").await;
    let (_, link) = page.split_once("rel=\"next\" href=\"").unwrap();
    let next = link.split_once('"').unwrap().0.replace("&#38;", "&").replace("&amp;", "&");
    assert_eq!(rows(&page), 25);
    assert_eq!(rows(&browser.page(&next).await), 25);
    let wrong = browser.get("/portal/events?cursor=nonsense").await;
    assert!(wrong.text().contains("<code>invalid_cursor</code>"), "{}", wrong.text());
    let nobody = Browser::of_the_portal(
        text(&super::link(&merchant, ALL).await, "url").split("/portal").next().unwrap(),
    );
    for reply in [
        browser.get("/portal").await,
        browser.get("/portal/nothing/here").await,
        browser.get("/portal/style.css").await,
        browser.get("/portal/sign-out").await,
        nobody.get("/portal").await,
        nobody.get("/portal/enter/nonsense").await,
        nobody.get("/portal/nothing").await,
        nobody.post("/portal/sign-out", &[], &[]).await,
    ] {
        has_the_headers(&reply);
    }
    assert_eq!(nobody.get("/portals").await.header("content-type"), Some("application/problem+json"));
}
