//! Deleting an endpoint: asked first, done once, by whoever may.

use serde_json::json;
use tests::{Database, Endpoint, Merchant, on_both_databases, retries};

use crate::browser::{Browser, audit};
use crate::portal::{ALL, entered, link_with, opened};

on_both_databases!(a_merchant_deletes_its_endpoint, an_operator_deletes_an_endpoint);

/// An endpoint that takes nothing, with a delivery that waits for it.
async fn waiting(merchant: &Merchant) -> Endpoint {
    let endpoint = merchant.endpoint("http://127.0.0.1:9/hook", &["*"]).await;
    merchant.checkout().await;
    endpoint
}

async fn a_merchant_deletes_its_endpoint(database: Database) {
    let (authority, merchant) = Merchant::on_with(database, &[retries("0,3600")], "acme").await;
    let endpoint = waiting(&merchant).await;
    let made = link_with(&merchant, json!({ "scopes": ALL })).await;
    let browser = opened(&made).await;
    let page = format!("/portal/endpoints/{}", endpoint.id);
    let delete = format!("{page}/delete");
    assert!(browser.page(&page).await.contains(&format!("<a href=\"{delete}\">Delete this endpoint</a>")));
    let asked = browser.page(&delete).await;
    for said in [
        "<h1>Delete the endpoint?</h1>",
        "<bdi>http://127.0.0.1:9/hook</bdi>",
        "1 deliveries that wait for it are cancelled.",
        "cannot be undone",
    ] {
        assert!(asked.contains(said), "{said}: {asked}");
    }
    assert_eq!(merchant.endpoint_now(&endpoint).await["status"], "enabled", "asking does nothing");
    // Somebody has changed it since: it is left alone.
    let stale = browser.form(&delete, &delete).await;
    let change = json!({ "description": "changed" });
    let api = endpoint.path("");
    let call =
        merchant.api.call(http::Method::PATCH, &api).header("idempotency-key", "a").header("if-match", "*");
    call.json(&change).send().await.expect(200);
    let refused = browser.send_again(&delete, &stale, &[]).await;
    assert_eq!(refused.status, 409);
    assert!(refused.text().contains("<code>resource_version_conflict</code>"), "{}", refused.text());
    // Sent twice it is done once, and says so both times.
    let form = browser.form(&delete, &delete).await;
    for _ in 0..2 {
        let reply = browser.send_again(&delete, &form, &[]).await;
        assert_eq!((reply.status, reply.header("location")), (303, Some("/portal/endpoints?done=deleted")));
    }
    let list = browser.page("/portal/endpoints?done=deleted").await;
    assert!(
        list.contains("The endpoint was deleted.") && list.contains("There is no endpoint yet."),
        "{list}"
    );
    assert_eq!(browser.get(&page).await.status, 404);
    assert_eq!(browser.get(&delete).await.status, 404);
    merchant.api.get(&api).await.expect(404);
    let session = made["id"].as_str().unwrap().to_owned();
    let done: Vec<_> =
        audit(&authority).await.into_iter().filter(|(name, _)| name == "endpoints.delete").collect();
    assert_eq!(done, [("endpoints.delete".to_owned(), session)]);
    // Whoever may not manage endpoints does not see the page, and another merchant's endpoint is not there.
    let reader = entered(&merchant, &["events:read"]).await;
    assert_eq!(reader.get(&delete).await.status, 403);
    let other = Merchant::create(&authority, "other").await;
    let theirs = waiting(&other).await;
    let foreign = format!("/portal/endpoints/{}/delete", theirs.id);
    assert_eq!(browser.get(&foreign).await.status, 404);
    let form = browser.form("/portal/endpoints", "/portal/endpoints").await;
    assert_eq!(browser.send_again(&foreign, &form, &[]).await.status, 404);
    assert_eq!(other.endpoint_now(&theirs).await["status"], "enabled");
}

async fn an_operator_deletes_an_endpoint(database: Database) {
    let (authority, merchant) = Merchant::on_with(database, &[retries("0,3600")], "acme").await;
    let endpoint = waiting(&merchant).await;
    let browser = Browser::signed_in(&authority).await;
    let page = format!("/console/endpoints/{}", endpoint.id);
    let delete = format!("{page}/delete");
    assert!(browser.page(&page).await.contains(&format!("<a href=\"{delete}\">Delete this endpoint</a>")));
    let form = browser.form(&delete, &delete).await;
    let done = browser.send_again(&delete, &form, &[]).await;
    let leads = format!("{page}?done=deleted");
    assert_eq!((done.status, done.header("location")), (303, Some(leads.as_str())), "{}", done.text());
    let shown = browser.page(&leads).await;
    assert!(shown.contains("The endpoint was deleted.") && shown.contains("<dt>Deleted</dt>"), "{shown}");
    assert!(!shown.contains("Delete this endpoint"), "{shown}");
    assert_eq!(browser.get(&delete).await.status, 404);
    assert_eq!(browser.send_again(&delete, &form, &[]).await.header("location"), Some(leads.as_str()));
    assert_eq!(audit(&authority).await.iter().filter(|(name, _)| name == "endpoints.delete").count(), 1);
    authority.nothing_pending().await;
}
