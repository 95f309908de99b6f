//! What is asked for: every page of both sites, lists with every filter, on their first page and far behind it.

use serde_json::Value;
use tests::authority::Authority;
use tests::merchant::text;

use crate::browser::{Asked, Browser};
use crate::fill::History;

/// Pages of a list that are passed on the way to one far behind the first.
const DEEP: usize = 200;
/// States of deliveries; nothing is all of them.
const STATES: [&str; 5] = ["", "pending", "succeeded", "failed", "cancelled"];

/// A page with the name that the table has for it.
pub(crate) struct Named {
    pub(crate) name: String,
    pub(crate) asked: Asked,
}

struct Asks<'a> {
    browser: &'a mut Browser,
    named: Vec<Named>,
}

impl Asks<'_> {
    fn page(&mut self, name: impl Into<String>, path: impl Into<String>) {
        self.named.push(Named { name: name.into(), asked: Asked::Page(path.into()) });
    }

    /// A list from its start and far behind it.
    async fn list(&mut self, name: &str, path: &str) {
        self.page(name, path);
        let asked = self.browser.deep(path, DEEP).await;
        if !matches!(&asked, Asked::Page(deep) if deep == path) {
            self.named.push(Named { name: format!("{name}, deep"), asked });
        }
    }

    /// The pages of an endpoint, and the count before a recovery.
    async fn endpoint(&mut self, name: &str, root: &str, id: &str) {
        let path = format!("{root}/endpoints/{id}");
        self.page(name, &path);
        self.page(format!("{name}: why was it refused"), format!("{path}/explain"));
        self.list(&format!("{name}: what has not arrived"), &format!("{path}/undelivered")).await;
        self.list(&format!("{name}: its recoveries"), &format!("{path}/recoveries")).await;
        let count = format!("{path}/recover/count");
        let asked = self.browser.form(&path, &count, "since=2026-01-01T00:00:00Z").await;
        self.named.push(Named { name: format!("{name}: count before a recovery"), asked });
    }

    /// The deliveries of both endpoints.
    async fn deliveries(&mut self, root: &str, history: &History) {
        for (name, endpoint) in [("good", &history.good), ("held", &history.held)] {
            for status in STATES {
                let path = format!("{root}/deliveries?endpoint={endpoint}&status={status}");
                self.list(&format!("deliveries of the {name} endpoint {status}"), &path).await;
            }
        }
    }
}

/// One delivery of the large merchant's with this status, and its event.
async fn delivery(authority: &Authority, endpoint: &str, status: &str) -> (String, String) {
    let path = format!("/deliveries?endpoint_id={endpoint}&status={status}&limit=1");
    let found = authority.operator().get(&path).await.expect(200);
    (text(&found["data"][0], "id"), text(&found["data"][0], "event_id"))
}

/// The console's.
pub(crate) async fn console(browser: &mut Browser, authority: &Authority, history: &History) -> Vec<Named> {
    let mut asks = Asks { browser, named: Vec::new() };
    let (good, merchant) = (&history.good, &history.large.id);
    let (delivery, event) = delivery(authority, good, "failed").await;
    asks.page("first page", "/console");
    for (kind, name) in [
        ("an order's number", &history.order),
        ("an event's id", &event),
        ("a delivery's id", &delivery),
        ("an endpoint's id", good),
        ("a payment's id", &history.payment),
        ("a merchant's slug", &"large".to_owned()),
        ("a tracking number", &history.tracking),
        ("an external reference", &"ERP-100".to_owned()),
        ("a customer reference of many", &"c-7".to_owned()),
        ("nothing's name", &"nothing".to_owned()),
    ] {
        asks.page(format!("search by {kind}"), format!("/console/search?q={name}"));
    }
    asks.page("order", format!("/console/orders/{merchant}/test/{}", history.order));
    asks.list(
        "order with a long history",
        &format!("/console/orders/{merchant}/test/{}", history.long_order),
    )
    .await;
    asks.page("payment", format!("/console/records/{}", history.payment));
    asks.page("event", format!("/console/events/{event}"));
    asks.page("delivery", format!("/console/deliveries/{delivery}"));
    for status in STATES {
        asks.list(&format!("deliveries {status}"), &format!("/console/deliveries?status={status}")).await;
    }
    asks.deliveries("/console", history).await;
    asks.endpoint("endpoint", "/console", good).await;
    asks.endpoint("endpoint held back", "/console", &history.held).await;
    asks.list("alerts", "/console/alerts").await;
    asks.page("alerts, closed", "/console/alerts?status=closed");
    asks.list("audit log", "/console/audit-log").await;
    asks.list("audit log of a record", &format!("/console/audit-log?resource={}", history.checkout)).await;
    let log = authority.operator().get("/audit-log?limit=1").await.expect(200);
    let author = text(&log["data"][0], "created_by");
    asks.list("audit log of a key", &format!("/console/audit-log?author={author}")).await;
    asks.list("merchants", "/console/merchants").await;
    asks.list("merchant", &format!("/console/merchants/{merchant}?mode=test")).await;
    asks.named
}

/// The portal's.
pub(crate) async fn portal(browser: &mut Browser, authority: &Authority, history: &History) -> Vec<Named> {
    let mut asks = Asks { browser, named: Vec::new() };
    let (delivery, event) = delivery(authority, &history.good, "failed").await;
    asks.page("first page", "/portal");
    asks.page("endpoints", "/portal/endpoints");
    asks.endpoint("endpoint", "/portal", &history.good).await;
    asks.endpoint("endpoint held back", "/portal", &history.held).await;
    asks.deliveries("/portal", history).await;
    asks.page("delivery", format!("/portal/deliveries/{delivery}"));
    for kind in ["", "order.created", "order.cancelled", "refund.failed"] {
        asks.list(&format!("events {kind}"), &format!("/portal/events?type={kind}")).await;
    }
    asks.page("event", format!("/portal/events/{event}"));
    asks.page("API keys", "/portal/api-keys");
    asks.named
}

/// A cursor in the middle of the stream, for the load on the API.
pub(crate) fn cursor(page: &[u8]) -> Option<String> {
    let page: Value = serde_json::from_slice(page).ok()?;
    page["next_cursor"].as_str().map(str::to_owned)
}
