//! A browser as far as the benchmark needs one: a session's cookie on one connection, forms, and links to older rows.

use bench_kit::connection::Connection;
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, Response, header};
use serde_json::json;
use tests::authority::Authority;
use tests::merchant::{Merchant, text};

const FORM: Option<&str> = Some("application/x-www-form-urlencoded");

/// Somebody who looks at one of the sites.
pub(crate) struct Browser {
    connection: Connection,
}

/// What is asked for: a page by its path, or the answer to a form of one.
#[derive(Clone, Debug)]
pub(crate) enum Asked {
    Page(String),
    /// Where it is sent, and its members.
    Form(String, String),
}

impl Browser {
    /// Signs in to the console.
    pub(crate) async fn of_the_console(authority: &Authority) -> Self {
        let address = authority.operator_address();
        let key = format!("key={}", authority.operator_key());
        Self::enter(&address, "/console/sign-in", key).await
    }

    /// Opens a link to the portal.
    pub(crate) async fn of_the_portal(authority: &Authority, merchant: &Merchant) -> Self {
        let body = json!({ "scopes": ["webhooks:manage", "events:read"], "expires_in_seconds": 86_400 });
        let path = merchant.platform_path("portal-sessions");
        let link = text(&authority.operator().post(&path, &body).await.expect(201), "url");
        let (_, path) = link.split_once("/portal/").unwrap();
        Self::enter(&authority.merchant_address(), &format!("/portal/{path}"), String::new()).await
    }

    async fn enter(address: &str, path: &str, form: String) -> Self {
        let same_site =
            (header::HeaderName::from_static("sec-fetch-site"), HeaderValue::from_static("same-origin"));
        let mut lines: HeaderMap = [same_site].into_iter().collect();
        let mut stranger = Connection::bringing(address, lines.clone()).await;
        let answer = stranger.send(Method::POST, path, FORM, form.into()).await;
        assert_eq!(answer.status(), 303, "{path}: {}", String::from_utf8_lossy(answer.body()));
        let cookie = answer.headers()[header::SET_COOKIE].to_str().unwrap();
        let (cookie, _) = cookie.split_once(';').unwrap();
        lines.insert(header::COOKIE, HeaderValue::try_from(cookie).unwrap());
        Self { connection: Connection::bringing(address, lines).await }
    }

    /// Asks and reads the whole answer; how many bytes its body has.
    pub(crate) async fn ask(&mut self, asked: &Asked) -> usize {
        let answer = match asked {
            Asked::Page(path) => self.connection.send(Method::GET, path, None, Bytes::new()).await,
            Asked::Form(path, members) => {
                self.connection.send(Method::POST, path, FORM, members.clone().into()).await
            }
        };
        good(asked, answer).len()
    }

    /// A page's text.
    pub(crate) async fn page(&mut self, path: &str) -> String {
        let asked = Asked::Page(path.to_owned());
        let answer = self.connection.send(Method::GET, path, None, Bytes::new()).await;
        String::from_utf8(good(&asked, answer).to_vec()).unwrap()
    }

    /// The page of a list behind so many others, or its last one.
    pub(crate) async fn deep(&mut self, path: &str, pages: usize) -> Asked {
        let mut path = path.to_owned();
        for _ in 0..pages {
            let Some(next) = next(&self.page(&path).await) else { break };
            path = next;
        }
        Asked::Page(path)
    }

    /// The form of a page that is sent to `action`, with what is typed into it.
    pub(crate) async fn form(&mut self, page: &str, action: &str, typed: &str) -> Asked {
        let html = self.page(page).await;
        let (_, form) = html.split_once(&format!("action=\"{action}\"")).unwrap();
        let (form, _) = form.split_once("</form>").unwrap();
        let attribute = |input: &str, name: &str| {
            let (_, rest) = input.split_once(&format!("{name}=\"")).unwrap();
            rest.split_once('"').unwrap().0.to_owned()
        };
        let hidden = form.split("<input type=\"hidden\"").skip(1);
        let mut members: Vec<String> = hidden
            .map(|input| format!("{}={}", attribute(input, "name"), attribute(input, "value")))
            .collect();
        members.push(typed.to_owned());
        Asked::Form(action.to_owned(), members.join("&"))
    }
}

/// A page, or the way to one: a search that found one record leads to it.
fn good(asked: &Asked, answer: Response<Bytes>) -> Bytes {
    let status = answer.status();
    assert!(status.is_success() || status == 303, "{asked:?}: {status}");
    answer.into_body()
}

/// Where a list's page says that older rows are.
fn next(html: &str) -> Option<String> {
    let (_, rest) = html.split_once("rel=\"next\" href=\"")?;
    Some(rest.split_once('"')?.0.replace("&#38;", "&").replace("&amp;", "&"))
}
