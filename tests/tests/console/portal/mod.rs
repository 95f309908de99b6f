//! The merchant portal: links, sessions, what is whose, and mending an endpoint.

mod bounds;
mod brand;
mod foreign;
mod keys;
mod mending;
pub(crate) mod sessions;

use serde_json::{Value, json};
use tests::{Merchant, Reply, text};

use crate::browser::Browser;

/// What a session may do that may do everything here.
pub(crate) const ALL: &[&str] = &["events:read", "webhooks:manage"];

/// A link in test mode, as the operator gets it.
async fn link(merchant: &Merchant, scopes: &[&str]) -> Value {
    link_with(merchant, json!({ "scopes": scopes })).await
}

/// A link in test mode, asked for with this body.
pub(crate) async fn link_with(merchant: &Merchant, body: Value) -> Value {
    merchant.operator.post(&merchant.platform_path("portal-sessions"), &body).await.expect(201)
}

/// A browser that was given the link, and the path of the link.
fn given(link: &Value) -> (Browser, String) {
    let url = text(link, "url");
    let (origin, secret) = url.split_once("/portal/enter/").unwrap();
    assert_eq!(secret.len(), 64, "{url}");
    (Browser::of_the_portal(origin), format!("/portal/enter/{secret}"))
}

/// Presses the button on the link's page.
async fn press(browser: &Browser, path: &str) -> Reply {
    browser.post(path, &[], &[("sec-fetch-site", "same-origin")]).await
}

/// Opens a link.
pub(crate) async fn opened(link: &Value) -> Browser {
    let (mut browser, path) = given(link);
    let reply = press(&browser, &path).await;
    assert_eq!((reply.status, reply.header("location")), (303, Some("/portal")), "{}", reply.text());
    let (pair, attributes) = reply.header("set-cookie").unwrap().split_once("; ").unwrap();
    assert_eq!(attributes, "Path=/portal; HttpOnly; Secure; SameSite=Strict");
    browser.cookie = Some(pair.strip_prefix("portal_session=").unwrap().to_owned());
    browser
}

/// A browser with a session of the merchant.
pub(crate) async fn entered(merchant: &Merchant, scopes: &[&str]) -> Browser {
    opened(&link(merchant, scopes).await).await
}

/// Whether the answer is the page that all links and sessions get that do not work.
fn is_over(reply: &Reply) -> bool {
    let said = reply.text().contains("This link or session has ended");
    assert!(!said || (reply.status == 403 && reply.header("set-cookie").is_none()), "{}", reply.status);
    said
}
