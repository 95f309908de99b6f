//! Paths that lead nowhere or nearly somewhere, and who may go where a link leads.

use tests::{Authority, Database, Merchant, Reply, on_both_databases, retries, text};

use crate::browser::{Browser, hidden};
use crate::hostile::POLICY;
use crate::portal::{ALL, entered};

on_both_databases!(
    a_path_that_cannot_be_read_is_a_page_that_says_so,
    an_event_is_a_link_for_whoever_may_see_it,
    a_key_that_sees_no_page_does_not_sign_in,
);

fn is_page(reply: &Reply) -> bool {
    reply.header("content-security-policy") == Some(POLICY)
        && reply.header("content-type") == Some("text/html; charset=utf-8")
}

async fn a_path_that_cannot_be_read_is_a_page_that_says_so(database: Database) {
    let (authority, merchant) = Merchant::on(database, "acme").await;
    let operator = Browser::signed_in(&authority).await;
    let visitor = entered(&merchant, ALL).await;
    for (site, browser) in [("console", &operator), ("portal", &visitor)] {
        for path in ["events/%FF", "endpoints/%FF/explain", "%FF"] {
            let reply = browser.get(&format!("/{site}/{path}")).await;
            assert_eq!(reply.status, 404, "{path}: {}", reply.text());
            assert!(is_page(&reply) && reply.text().contains("<h1>Not found</h1>"), "{}", reply.text());
        }
        let form = hidden(&browser.page(&format!("/{site}")).await, &format!("/{site}/sign-out")).unwrap();
        let reply = browser.send_again(&format!("/{site}/events/%FF/replay"), &form, &[]).await;
        assert_eq!(reply.status, 404, "{}", reply.text());
        assert!(is_page(&reply), "{}", reply.text());
        // With a slash behind it, it is the same site.
        let slash = browser.get(&format!("/{site}/")).await;
        assert_eq!((slash.status, slash.header("location")), (303, Some(format!("/{site}").as_str())));
        assert_eq!(slash.header("content-security-policy"), Some(POLICY));
    }
    let link = Browser::of_the_portal(&format!("http://{}", visitor.host())).get("/portal/enter/%FF").await;
    assert_eq!(link.status, 403, "{}", link.text());
    assert!(is_page(&link) && link.text().contains("This link or session has ended"), "{}", link.text());
    let nobody = Browser::new(&authority);
    assert_eq!(nobody.get("/console/events/%FF").await.status, 303, "to the sign-in page");
    assert_eq!(nobody.get("/console/open/%FF").await.status, 303);
}

async fn an_event_is_a_link_for_whoever_may_see_it(database: Database) {
    let (authority, merchant) = Merchant::on_with(database, &[retries("0")], "acme").await;
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
    let key = text(&authority.new_operator_key("blind", &["keys:write"]).await, "key");
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
