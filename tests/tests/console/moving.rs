//! An endpoint with headers of its own moves to another host, which does not get them.

use serde_json::json;
use tests::{Database, Merchant, on_both_databases};

use crate::browser::Browser;
use crate::portal::{ALL, entered};

on_both_databases!(an_endpoint_moves_to_another_host_without_its_headers);

/// What a form has beside the URL.
type Members = &'static [(&'static str, &'static str)];

const CONSOLE: (&str, Members) = ("url", &[]);
const PORTAL: (&str, Members) = ("change", &[("events", "*"), ("description", "")]);
const REMOVES: (&str, &str) = ("remove_headers", "yes");

async fn an_endpoint_moves_to_another_host_without_its_headers(database: Database) {
    let (authority, merchant) = Merchant::on(database, "acme").await;
    let (console, portal) = (Browser::signed_in(&authority).await, entered(&merchant, ALL).await);
    for (browser, root, (form, members)) in [(console, "/console", CONSOLE), (portal, "/portal", PORTAL)] {
        let (before, after) = ("http://127.0.0.1:9/hook", "http://127.0.0.1:10/hook");
        let body = json!({ "url": before, "enabled_events": ["*"], "headers": { "X-Key": "1" } });
        let endpoint = merchant.endpoint_with(body).await;
        let page = format!("{root}/endpoints/{}", endpoint.id);
        let action = format!("{page}/{form}");
        let moved = |url: &'static str, more: Members| [&[("url", url)][..], members, more].concat();
        assert!(browser.page(&page).await.contains("Remove its headers (<bdi>x-key</bdi>)"));
        let refused = browser.send(&page, &action, &moved(after, &[])).await;
        assert_eq!(refused.status, 422, "{}", refused.text());
        assert!(refused.text().contains("The URL leads to another host."), "{}", refused.text());
        let refused = browser.send(&page, &action, &moved("ftp://a.example/", &[REMOVES])).await;
        assert_eq!(refused.status, 422, "{}", refused.text());
        assert!(refused.text().contains("value=\"yes\" checked> Remove"), "{}", refused.text());
        let now = merchant.endpoint_now(&endpoint).await;
        assert_eq!((&now["url"], &now["header_names"]), (&json!(before), &json!(["x-key"])));

        let said = browser.done(&page, &action, &moved(after, &[REMOVES])).await;
        assert!(said.contains("The endpoint was changed."), "{said}");
        assert!(!said.contains("Remove its headers"), "{said}");
        let now = merchant.endpoint_now(&endpoint).await;
        assert_eq!((&now["url"], &now["header_names"]), (&json!(after), &json!([])));
    }
}
