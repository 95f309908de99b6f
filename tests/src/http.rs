//! A small JSON client for the authority's two roots.
//!
//! An [`Api`] knows one root and one key. It asks where the authority listens at every request, so that it goes on
//! working when the authority is killed and started again on other ports: while it is away, a request waits.
//! [`Api::get`] and [`Api::post`] are for the usual; [`Api::call`] builds everything else, nonsense included.

use std::fmt;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, header};
use http_body_util::{BodyExt as _, Full};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use serde_json::Value;
use tokio::sync::watch;

use crate::eventually::within;
use crate::records::wrong_members;

/// Where a listener is, e.g. `http://127.0.0.1:40123`; `None` while the authority is away.
pub type Address = watch::Receiver<Option<String>>;

/// One root of the authority, asked with one key. Clones share their connections.
#[derive(Clone)]
pub struct Api {
    client: Client<HttpConnector, Full<Bytes>>,
    address: Address,
    root: &'static str,
    key: Option<String>,
}

impl fmt::Debug for Api {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Api").field("root", &self.root).finish_non_exhaustive()
    }
}

impl Api {
    /// The root under `address`.
    #[must_use]
    pub fn new(address: Address, root: &'static str, key: &str) -> Self {
        let client = Client::builder(TokioExecutor::new()).build_http();
        Self { client, address, root, key: Some(key.to_owned()) }
    }

    /// A root at a fixed address, such as `http://127.0.0.1:8080/v1/merchant`.
    #[must_use]
    pub fn at(root: &str, key: &str) -> Self {
        Self::new(watch::Sender::new(Some(root.to_owned())).subscribe(), "", key)
    }

    /// The same root, asked with another key, or with none.
    #[must_use]
    pub fn with_key(&self, key: Option<&str>) -> Self {
        Self { key: key.map(str::to_owned), ..self.clone() }
    }

    /// Where it is, such as `http://127.0.0.1:40123`.
    #[must_use]
    pub fn origin(&self) -> Option<String> {
        self.address.borrow().clone()
    }

    /// Whether the authority is there, as far as is known.
    #[must_use]
    pub fn is_up(&self) -> bool {
        self.address.borrow().is_some()
    }

    /// Reads.
    pub async fn get(&self, path: &str) -> Reply {
        self.call(Method::GET, path).send().await
    }

    /// Writes without an idempotency key.
    pub async fn post(&self, path: &str, body: &Value) -> Reply {
        self.call(Method::POST, path).json(body).send().await
    }

    /// Writes under an idempotency key.
    pub async fn post_as(&self, key: &str, path: &str, body: &Value) -> Reply {
        self.call(Method::POST, path).header("idempotency-key", key).json(body).send().await
    }

    /// Changes some members, without an idempotency key.
    pub async fn patch(&self, path: &str, body: &Value) -> Reply {
        self.call(Method::PATCH, path).json(body).send().await
    }

    /// Deletes, without an idempotency key.
    pub async fn delete(&self, path: &str) -> Reply {
        self.call(Method::DELETE, path).send().await
    }

    /// Every item of a list, page by page; a page may be empty and have another behind it.
    pub async fn list(&self, path: &str) -> Vec<Value> {
        let (mut all, mut next) = (Vec::new(), path.to_owned());
        loop {
            let mut page = self.get(&next).await.expect(200);
            all.append(page["data"].as_array_mut().unwrap());
            let Some(cursor) = page["next_cursor"].as_str() else { return all };
            next = format!("{path}{}cursor={cursor}", if path.contains('?') { '&' } else { '?' });
        }
    }

    /// A request to be completed.
    #[must_use]
    pub fn call(&self, method: Method, path: &str) -> Call {
        let mut headers = HeaderMap::new();
        if let Some(key) = &self.key {
            headers.insert(header::AUTHORIZATION, value(&format!("Bearer {key}")));
        }
        Call { api: self.clone(), method, path: format!("{}{path}", self.root), headers, body: Bytes::new() }
    }
}

/// A request in the making.
#[derive(Clone, Debug)]
pub struct Call {
    api: Api,
    method: Method,
    path: String,
    headers: HeaderMap,
    body: Bytes,
}

impl Call {
    /// Adds a header line; the same name twice makes two lines.
    #[must_use]
    pub fn header(mut self, name: &str, text: &str) -> Self {
        self.headers.append(HeaderName::from_bytes(name.as_bytes()).unwrap(), value(text));
        self
    }

    /// Takes every line of a header away.
    #[must_use]
    pub fn without(mut self, name: &str) -> Self {
        self.headers.remove(name);
        self
    }

    /// A JSON body with its media type.
    #[must_use]
    pub fn json(self, body: &Value) -> Self {
        self.header("content-type", "application/json").bytes(body.to_string())
    }

    /// Any body, without a media type.
    #[must_use]
    pub fn bytes(mut self, body: impl Into<Bytes>) -> Self {
        self.body = body.into();
        self
    }

    /// Sends it and reads the whole answer.
    ///
    /// # Panics
    /// When there is no answer.
    pub async fn send(self) -> Reply {
        self.try_send().await.unwrap_or_else(|lost| panic!("{lost}"))
    }

    /// Sends it and reads the whole answer, once, as soon as the authority is up.
    ///
    /// # Errors
    /// [`Lost`] when no whole answer came: the request may or may not have had its effect.
    pub async fn try_send(self) -> Result<Reply, Lost> {
        let what = format!("{} {}", self.method, self.path.chars().take(200).collect::<String>());
        within(what.clone(), self.exchange()).await.map_err(|cause| Lost { what, cause })
    }

    async fn exchange(self) -> Result<Reply, String> {
        let mut address = self.api.address.clone();
        let base = address.wait_for(Option::is_some).await.expect("the authority is there").clone().unwrap();
        let mut request = Request::new(Full::new(self.body));
        *request.method_mut() = self.method;
        *request.uri_mut() = format!("{base}{}", self.path).parse().expect("a path");
        *request.headers_mut() = self.headers;
        let response = self.api.client.request(request).await.map_err(|error| format!("{error:?}"))?;
        let (head, body) = response.into_parts();
        let body = body.collect().await.map_err(|error| error.to_string())?.to_bytes();
        Ok(Reply { status: head.status.as_u16(), headers: head.headers, body })
    }
}

fn value(text: &str) -> HeaderValue {
    HeaderValue::from_str(text).expect("a header value")
}

/// No whole answer came.
#[derive(Debug)]
pub struct Lost {
    what: String,
    cause: String,
}

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: no answer: {}", self.what, self.cause)
    }
}

/// What came back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// The status.
    pub status: u16,
    /// The header lines.
    pub headers: HeaderMap,
    /// The whole body.
    pub body: Bytes,
}

impl Reply {
    /// The body of an answer with this status.
    ///
    /// # Panics
    /// On another status, with the body in the message.
    pub fn expect(&self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}", self.text());
        self.json()
    }

    /// The body.
    #[must_use]
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }

    /// The body as text.
    #[must_use]
    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.body).expect("UTF-8")
    }

    /// The only line of a header.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.headers.get_all(name).iter();
        let line = lines.next()?.to_str().expect("visible ASCII");
        assert_eq!(lines.next(), None, "{name} is there twice");
        Some(line)
    }

    /// Whether it is an earlier answer to the same request, given again (contract 4.3).
    #[must_use]
    pub fn is_replay(&self) -> bool {
        self.header("idempotent-replayed") == Some("true")
    }

    /// The body of a refusal that also has these members; its `errors` are given as pairs of pointer and code.
    ///
    /// # Panics
    /// When it has not.
    pub fn refused_with(&self, status: u16, code: &str, facts: &Value) -> Value {
        let problem = self.refused(status, code);
        for (member, fact) in facts.as_object().unwrap() {
            let found = if member == "errors" { wrong_members(&problem) } else { problem[member].clone() };
            assert_eq!(&found, fact, "{member} of {problem}");
        }
        problem
    }

    /// The body of a refusal with this status and code, which has everything that every refusal has (contract 5.1,
    /// 5.4).
    ///
    /// # Panics
    /// When it has not.
    pub fn refused(&self, status: u16, code: &str) -> Value {
        assert_eq!((self.status, self.json()["code"].as_str()), (status, Some(code)), "{}", self.text());
        let body = self.json();
        assert_eq!(body["status"], status);
        assert_eq!(body["type"], format!("urn:service:error:{code}"));
        assert_eq!(body["request_id"].as_str(), self.header("service-request-id"));
        assert!(
            ["title", "detail"].iter().all(|text| body[text].as_str().is_some_and(|text| text.len() > 3))
        );
        assert_eq!(self.header("content-type"), Some("application/problem+json"));
        assert_eq!(self.header("cache-control"), Some("no-store"));
        assert_eq!(self.header("x-content-type-options"), Some("nosniff"));
        body
    }
}
