//! From a record to what it belongs to: by the search and by links.

use serde_json::json;
use tests::authority::Database;
use tests::merchant::{Merchant, text};
use tests::on_both_databases;

use crate::browser::Browser;

on_both_databases!(a_subscription_and_its_order_lead_to_each_other);

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
