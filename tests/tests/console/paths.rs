//! Paths that lead nowhere or nearly somewhere, and who may go where a link leads.

use tests::authority::{Authority, Database};
use tests::merchant::{Merchant, text};
use tests::on_both_databases;

use crate::browser::Browser;
use crate::portal::{ALL, entered};

on_both_databases!(an_event_is_a_link_for_whoever_may_see_it, a_key_that_sees_no_page_does_not_sign_in,);

async fn an_event_is_a_link_for_whoever_may_see_it(database: Database) {
    let authority = Authority::on(database, &[("AUTHORITY_RETRY_SCHEDULE", "0")]).await;
    let merchant = Merchant::create(&authority, "acme").await;
    let endpoint = merchant.endpoint("http://127.0.0.1:9/hook", &["*"]).await;
    merchant.checkout().await;
    authority.nothing_pending().await;
    let delivery = merchant.deliveries(&endpoint).await.remove(0);
    let event = text(&delivery, "event_id");
    let (all, keeper) = (entered(&merchant, ALL).await, entered(&merchant, &["webhooks:manage"]).await);
    for page in [
        format!("/portal/deliveries/{}", text(&delivery, "id")),
        format!("/portal/endpoints/{}", endpoint.id),
        format!("/portal/endpoints/{}/undelivered", endpoint.id),
    ] {
        let link = format!("href=\"/portal/events/{event}\"");
        assert!(all.page(&page).await.contains(&link), "{page}");
        let html = keeper.page(&page).await;
        assert!(html.contains(&format!("<bdi>{event}</bdi>")), "{page}: {html}");
        assert!(!html.contains("/portal/events"), "{page}: {html}");
    }
}

/// Every page needs `operator:read`, also those that lead out again.
async fn a_key_that_sees_no_page_does_not_sign_in(database: Database) {
    let authority = Authority::on(database, &[]).await;
    let arguments = ["operator-key", "create", "--name", "blind", "--json", "--scopes", "keys:write"];
    let made = authority.run(&arguments).await;
    let key = text(&serde_json::from_slice(&made.stdout).unwrap(), "key");
    let refused = Browser::new(&authority).sign_in(&key, "/console/alerts").await;
    assert_eq!((refused.status, refused.header("set-cookie")), (403, None), "{}", refused.text());
    for said in [
        "This operator key lacks the scope operator:read, which every page of the console needs.",
        "<code>insufficient_scope</code>",
        "value=\"/console/alerts\"",
        "<h1>Sign in</h1>",
    ] {
        assert!(refused.text().contains(said), "{said}: {}", refused.text());
    }
    assert!(!refused.text().contains(&key));
}
