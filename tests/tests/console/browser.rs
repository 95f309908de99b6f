//! A browser as far as these tests need one: it keeps the session's cookie, reads forms and fills them in.

use http::Method;
use serde_json::Value;
use tests::{Api, Call, ConsoleUrls, Merchant, Receiver, Reply, ServiceUrls, eventually, rows, text, texts};

/// A browser with a session, or without one.
#[derive(Clone, Debug)]
pub(crate) struct Browser {
    listener: Api,
    /// The name of the session's cookie.
    cookie_name: &'static str,
    /// What the session's cookie holds.
    pub(crate) cookie: Option<String>,
}

impl Browser {
    /// One that has not signed in.
    pub(crate) fn new(authority: &impl ConsoleUrls) -> Self {
        Self { listener: authority.operator_listener(), cookie_name: "console_session", cookie: None }
    }

    /// One at the merchant listener, without a session of the portal.
    pub(crate) fn of_the_portal(origin: &str) -> Self {
        Self { listener: Api::at(origin, "").with_key(None), cookie_name: "portal_session", cookie: None }
    }

    /// One that has signed in with the key that may do everything.
    pub(crate) async fn signed_in(authority: &impl ConsoleUrls) -> Self {
        Self::with_key(authority, authority.operators_key()).await
    }

    /// One that has signed in with this key.
    pub(crate) async fn with_key(authority: &impl ConsoleUrls, key: &str) -> Self {
        let mut browser = Self::new(authority);
        let reply = browser.sign_in(key, "").await;
        assert_eq!((reply.status, reply.header("location")), (303, Some("/console")), "{}", reply.text());
        let line = reply.header("set-cookie").unwrap();
        let (pair, attributes) = line.split_once("; ").unwrap();
        assert_eq!(attributes, "Path=/console; HttpOnly; Secure; SameSite=Strict");
        browser.cookie = Some(pair.strip_prefix("console_session=").unwrap().to_owned());
        browser
    }

    /// The same browser with another cookie.
    pub(crate) fn holding(&self, cookie: &str) -> Self {
        Self { cookie: Some(cookie.to_owned()), ..self.clone() }
    }

    /// The same browser, whose requests another instance gets.
    pub(crate) fn at(&self, address: &str) -> Self {
        Self { listener: Api::at(address, "").with_key(None), ..self.clone() }
    }

    /// Sends the form of the sign-in page.
    pub(crate) async fn sign_in(&self, key: &str, to: &str) -> Reply {
        self.post("/console/sign-in", &[("key", key), ("to", to)], &[]).await
    }

    /// What a path answers.
    pub(crate) async fn get(&self, path: &str) -> Reply {
        self.get_with(path, &[]).await
    }

    /// What a path answers to a request with these header lines.
    pub(crate) async fn get_with(&self, path: &str, lines: &[(&str, &str)]) -> Reply {
        self.ask(self.listener.call(Method::GET, path), lines).await
    }

    /// Sends a request with its cookie and these header lines.
    async fn ask(&self, mut call: Call, lines: &[(&str, &str)]) -> Reply {
        if let Some(cookie) = self.cookie_line() {
            call = call.header("cookie", &cookie);
        }
        lines.iter().fold(call, |call, (name, line)| call.header(name, line)).send().await
    }

    /// The line of its cookie.
    pub(crate) fn cookie_line(&self) -> Option<String> {
        Some(format!("{}={}", self.cookie_name, self.cookie.as_ref()?))
    }

    /// Host and port of the listener that it asks.
    pub(crate) fn host(&self) -> String {
        self.listener.origin().unwrap().strip_prefix("http://").unwrap().to_owned()
    }

    /// A page.
    pub(crate) async fn page(&self, path: &str) -> String {
        let reply = self.get(path).await;
        assert_eq!(reply.status, 200, "{path}: {}", reply.text());
        reply.text().to_owned()
    }

    /// Sends members, with these header lines.
    pub(crate) async fn post(&self, path: &str, members: &[(&str, &str)], lines: &[(&str, &str)]) -> Reply {
        let body: Vec<String> =
            members.iter().map(|(name, value)| format!("{name}={}", encoded(value))).collect();
        let call = self
            .listener
            .call(Method::POST, path)
            .header("content-type", "application/x-www-form-urlencoded")
            .bytes(body.join("&"));
        self.ask(call, lines).await
    }

    /// The hidden members of the form that a page sends to `action`.
    pub(crate) async fn form(&self, page: &str, action: &str) -> Vec<(String, String)> {
        let html = self.page(page).await;
        hidden(&html, action).unwrap_or_else(|| panic!("{page} has no form for {action}: {html}"))
    }

    /// Fills in the form of a page and sends it.
    pub(crate) async fn send(&self, page: &str, action: &str, typed: &[(&str, &str)]) -> Reply {
        let form = self.form(page, action).await;
        self.send_again(action, &form, typed).await
    }

    /// Sends a form that was read before.
    pub(crate) async fn send_again(
        &self,
        action: &str,
        form: &[(String, String)],
        typed: &[(&str, &str)],
    ) -> Reply {
        let mut members: Vec<(&str, &str)> =
            form.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        members.extend(typed);
        self.post(action, &members, &[("sec-fetch-site", "same-origin"), ("origin", "null")]).await
    }

    /// Sends the form of a page and follows to where it leads; what that page says.
    pub(crate) async fn done(&self, page: &str, action: &str, typed: &[(&str, &str)]) -> String {
        let reply = self.send(page, action, typed).await;
        assert_eq!(reply.status, 303, "{action}: {}", reply.text());
        self.page(reply.header("location").unwrap()).await
    }

    /// Lets an endpoint get at `/new` the events of orders that it missed; how many. They are counted first, which
    /// sends nothing, and a form that is sent twice begins once.
    pub(crate) async fn recovers(&self, merchant: &Merchant, page: &str, receiver: &Receiver) -> usize {
        let since = [("since", "2020-01-01T00:00:00Z")];
        let counted = self.send(page, &format!("{page}/recover/count"), &since).await;
        assert_eq!(counted.status, 200, "{}", counted.text());
        let types = texts(&merchant.events().await, "type");
        let missed = types.iter().filter(|name| name.starts_with("order.")).count();
        assert!(counted.text().contains(&format!("<strong>{missed} events</strong>")), "{}", counted.text());
        assert_eq!(receiver.arrivals().accepted("/new"), 0);
        let recover = format!("{page}/recover");
        let form = hidden(counted.text(), &recover).unwrap();
        let begun = self.send_again(&recover, &form, &[]).await;
        assert_eq!(begun.status, 303, "{}", begun.text());
        let progress = begun.header("location").unwrap();
        let twice = self.send_again(&recover, &form, &[]).await;
        assert_eq!(twice.header("location"), Some(progress), "sent twice, begun once");
        receiver.until("what was missed", |arrivals| arrivals.accepted("/new") == missed).await;
        eventually("the recovery is completed", async || {
            self.page(progress).await.contains("<span class=\"state completed\">").then_some(())
        })
        .await;
        missed
    }
}

/// The hidden members of a form.
pub(crate) fn hidden(html: &str, action: &str) -> Option<Vec<(String, String)>> {
    let (_, rest) = html.split_once(&format!("method=\"post\" action=\"{action}\""))?;
    let (form, _) = rest.split_once("</form>")?;
    let attribute = |input: &str, name: &str| {
        let (_, rest) = input.split_once(&format!("{name}=\""))?;
        Some(rest.split_once('"')?.0.to_owned())
    };
    let inputs = form.split("<input type=\"hidden\"").skip(1);
    Some(inputs.filter_map(|input| Some((attribute(input, "name")?, attribute(input, "value")?))).collect())
}

/// The newest entries of the audit log: operation and author.
pub(crate) async fn audit(authority: &impl ServiceUrls) -> Vec<(String, String)> {
    let entries = authority.operator().get("/audit-log?limit=100").await.expect(200);
    let entry = |entry: &Value| (text(entry, "operation"), text(entry, "created_by"));
    rows(&entries).iter().map(entry).collect()
}

pub(crate) fn encoded(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}
