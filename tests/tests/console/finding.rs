//! From a record to what it belongs to: by the search, by links, and by who wrote what.

use serde_json::json;
use tests::{Authority, Database, Merchant, on_both_databases, text};

use crate::browser::{Browser, encoded};
use crate::portal::{ALL, link_with};
use crate::sessions::READER;

on_both_databases!(
    a_subscription_and_its_order_lead_to_each_other,
    the_audit_log_says_whose_a_key_is,
    an_author_who_is_nobody_wrote_nothing,
);

/// The facts of a page, as they stand there.
fn fact(name: &str, value: &str) -> String {
    format!("<dt>{name}</dt><dd>{value}</dd>")
}

async fn a_subscription_and_its_order_lead_to_each_other(database: Database) {
    let (authority, merchant) = Merchant::on(database, "acme").await;
    let made = merchant.subscription().await;
    let id = text(&made, "id");
    let browser = Browser::signed_in(&authority).await;
    let (search, page) = (format!("/console/search?q={id}"), format!("/console/records/{id}"));
    assert_eq!(browser.get(&search).await.header("location"), Some(page.as_str()));
    assert!(!browser.page(&page).await.contains("<dt>Order</dt>"), "it has none yet");
    let renewal = json!({ "renew": { "period_start": made["current_period_end"] } });
    let path = format!("/subscriptions/{id}/reports");
    let renewed = merchant.operator.post(&path, &renewal).await.expect(200);
    let number = text(&renewed["subscription"], "latest_order_number");
    assert_eq!(browser.get(&search).await.header("location"), Some(page.as_str()));
    let order = format!("/console/orders/{}/test/{number}", merchant.id);
    let html = browser.page(&page).await;
    for said in [
        fact("Order", &format!("<a href=\"{order}\"><bdi>{number}</bdi></a>")),
        fact("Amount", "<bdi>9.00 USD</bdi>"),
    ] {
        assert!(html.contains(&said), "{said}: {html}");
    }
    let html = browser.page(&order).await;
    let said = fact("Subscription", &format!("<a href=\"{page}\"><bdi>{id}</bdi></a>"));
    assert!(html.contains(&said), "{said}: {html}");
    // A checkout has its total as its amount.
    let checkout = text(&merchant.checkout().await, "id");
    let html = browser.page(&format!("/console/records/{checkout}")).await;
    assert!(html.contains(&fact("Amount", "<bdi>53.00 USD</bdi>")), "{html}");
}

/// A new operator key: its id and the key itself.
async fn key(authority: &Authority, name: &str) -> (String, String) {
    let made = authority.new_operator_key(name, READER).await;
    (text(&made, "id"), text(&made, "key"))
}

async fn the_audit_log_says_whose_a_key_is(database: Database) {
    let authority = Authority::on(database, &[]).await;
    let (ada, adas_key) = key(&authority, "Ada, <b>night").await;
    let (_, other_key) = key(&authority, "Ben").await;
    let browser = Browser::with_key(&authority, &adas_key).await;
    Browser::with_key(&authority, &other_key).await;
    let log = "/console/audit-log";
    let own = format!("{log}?author={ada}");
    let shown = format!("<a href=\"{own}\"><bdi>{ada} (Ada, &lt;b&gt;night)</bdi></a>");
    let html = browser.page(log).await;
    assert!(html.contains(&shown), "{shown}: {html}");
    assert!(html.contains("<a href=\"/console/audit-log?author=cli\"><bdi>cli</bdi></a>"), "{html}");
    assert!(html.contains(" (Ben)"), "{html}");
    let html = browser.page(&own).await;
    assert!(html.contains(&shown) && !html.contains(" (Ben)"), "{html}");
    // Who wrote something is still known when the key is gone.
    authority.revoke_operator_key(&ada).await;
    let html = Browser::with_key(&authority, &other_key).await.page(&own).await;
    assert!(html.contains(&shown), "{html}");
}

async fn an_author_who_is_nobody_wrote_nothing(database: Database) {
    let (authority, merchant) = Merchant::on(database, "acme").await;
    let browser = Browser::signed_in(&authority).await;
    let long = format!("key_{}", "a".repeat(300));
    for author in ["Ada", "key_", "a\u{0}", &long] {
        let html = browser.page(&format!("/console/audit-log?author={}", encoded(author))).await;
        assert!(html.contains("This is the id of no operator key or portal session."), "{author}: {html}");
    }
    for resource in ["nothing", "a\u{0}", &long] {
        let html = browser.page(&format!("/console/audit-log?resource={}", encoded(resource))).await;
        assert!(html.contains("There are none."), "{resource}: {html}");
    }
    assert!(browser.page("/console/audit-log?author=&resource=").await.contains("<th scope=\"row\">"));
    // Nor is such a one found; a session is, before anybody opened its link.
    for author in ["key_01k3zqa7t0e9h8w8r1v0c2n5xk", "pts_01k3zqa7t0e9h8w8r1v0c2n5xk"] {
        let html = browser.page(&format!("/console/search?q={author}")).await;
        assert!(html.contains("Nothing has this number, id or reference."), "{author}: {html}");
    }
    let session = text(&link_with(&merchant, json!({ "scopes": ALL })).await, "id");
    let (unused, _) = key(&authority, "unused").await;
    for author in [session, unused] {
        let page = format!("/console/audit-log?author={author}");
        let found = browser.get(&format!("/console/search?q={author}")).await;
        assert_eq!((found.status, found.header("location")), (303, Some(page.as_str())), "{}", found.text());
    }
}
