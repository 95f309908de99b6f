//! The HTTP client of the demo and of the commands that call a running authority. It sends the same requests as any
//! other program would.
//!
//! One [`Api`] calls one API root with one key. It is a well-behaved client: every call has a deadline, every answer a
//! size limit, and after a 429 it waits as long as `Retry-After` says before it asks again. When that is more than a
//! person would wait for, the call fails instead and names the time. An error names the call and the answer's code,
//! never the key.

use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderMap, Method, Request, StatusCode};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use percent_encoding::{NON_ALPHANUMERIC, PercentEncode, utf8_percent_encode};
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::time::{sleep, timeout};

use crate::dispatch::client::DeliveryClientError;
use crate::dispatch::tls::client_config;

/// Deadline of a call, from connecting to the end of the answer. Answers take milliseconds, or longer under load.
const CALL_DEADLINE: Duration = Duration::from_secs(10);

/// Size limit of an answer, in bytes: a page of 100 events of 64 KiB each.
const ANSWER_LIMIT: usize = 100 * 64 * 1024;

/// The longest that one call waits after 429s, all waits together.
const WAIT_MAX: Duration = Duration::from_secs(30);

/// Why a call failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CallError {
    /// No answer came.
    #[error("{call}: {reason}")]
    NoAnswer {
        /// Method and path.
        call: String,
        /// The cause.
        reason: String,
    },
    /// The authority refused the request.
    #[error("{call} answered {status} {code}{members}{}", again(*.retry_after))]
    Refused {
        /// Method and path.
        call: String,
        /// The status.
        status: u16,
        /// The code of the problem body, empty when there is none.
        code: String,
        /// The problem body, if the answer has one.
        problem: Option<Box<Value>>,
        /// The wrong members of the body, each with its pointer and what is wrong, after a colon; else empty.
        members: String,
        /// How long to wait before the next request, if the answer says so.
        retry_after: Option<Duration>,
    },
    /// The answer does not follow the contract.
    #[error("{call} answered something that the contract does not know")]
    Unexpected {
        /// Method and path.
        call: String,
    },
}

/// A connection pool.
#[derive(Clone, Debug)]
pub(crate) struct Http(Client<HttpsConnector<HttpConnector>, Full<Bytes>>);

/// A complete answer.
#[derive(Debug)]
pub(crate) struct Answer {
    /// The status.
    pub(crate) status: StatusCode,
    /// The headers.
    pub(crate) headers: HeaderMap,
    /// The body.
    pub(crate) body: Bytes,
}

impl Http {
    /// An empty pool, for plain and for TLS connections.
    ///
    /// # Errors
    /// When TLS cannot be set up.
    pub(crate) fn new() -> Result<Self, DeliveryClientError> {
        let connector = HttpsConnectorBuilder::new()
            .with_tls_config(client_config(None)?)
            .https_or_http()
            .enable_http1()
            .build();
        Ok(Self(Client::builder(TokioExecutor::new()).build(connector)))
    }

    /// Sends one request and returns the answer, whatever its status.
    ///
    /// # Errors
    /// [`CallError::NoAnswer`].
    pub(crate) async fn send(&self, request: Request<Full<Bytes>>) -> Result<Answer, CallError> {
        let call = call(request.method(), request.uri().path());
        let answered = async {
            let (parts, body) =
                self.0.request(request).await.map_err(|error| error.to_string())?.into_parts();
            let body = Limited::new(body, ANSWER_LIMIT).collect().await.map_err(|error| error.to_string())?;
            Ok(Answer { status: parts.status, headers: parts.headers, body: body.to_bytes() })
        };
        match timeout(CALL_DEADLINE, answered).await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(reason)) => Err(CallError::NoAnswer { call, reason }),
            Err(_) => Err(CallError::NoAnswer { call, reason: "not answered in time".to_owned() }),
        }
    }
}

/// One root of the authority, with a key for it. Has no `Debug`: it holds the key.
pub(crate) struct Api {
    http: Http,
    root: String,
    key: String,
}

impl Api {
    /// The API at `url` (without a slash at its end) under `root`, for example `/v1/merchant`.
    pub(crate) fn new(http: Http, url: &str, root: &str, key: String) -> Self {
        Self { http, root: format!("{url}{root}"), key }
    }

    /// The address of the root.
    pub(crate) fn root(&self) -> &str {
        &self.root
    }

    /// The key.
    pub(crate) fn key(&self) -> &str {
        &self.key
    }

    /// Reads a record.
    ///
    /// # Errors
    /// [`CallError`].
    pub(crate) async fn get(&self, path: &str) -> Result<Answer, CallError> {
        self.call(&Method::GET, path, Bytes::new(), &[]).await
    }

    /// Reads a record as a type.
    ///
    /// # Errors
    /// [`CallError`].
    pub(crate) async fn get_as<T: DeserializeOwned>(&self, path: &str) -> Result<T, CallError> {
        decoded(&Method::GET, path, &self.get(path).await?)
    }

    /// Sends a write, with conditions and similar settings in `headers`.
    ///
    /// # Errors
    /// [`CallError`].
    pub(crate) async fn post<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &Value,
        headers: &[(&str, &str)],
    ) -> Result<T, CallError> {
        self.write(&Method::POST, path, body, headers).await
    }

    /// Sends a write; the text at this place of its answer.
    ///
    /// # Errors
    /// [`CallError`].
    pub(crate) async fn post_for(
        &self,
        path: &str,
        body: &Value,
        headers: &[(&str, &str)],
        place: &str,
    ) -> Result<String, CallError> {
        let answer: Value = self.post(path, body, headers).await?;
        let text = answer.pointer(place).and_then(Value::as_str).map(str::to_owned);
        text.ok_or_else(|| CallError::Unexpected { call: call(&Method::POST, path) })
    }

    /// Sends a write with this method.
    ///
    /// # Errors
    /// [`CallError`].
    pub(crate) async fn write<T: DeserializeOwned>(
        &self,
        method: &Method,
        path: &str,
        body: &Value,
        headers: &[(&str, &str)],
    ) -> Result<T, CallError> {
        let answer = self.call(method, path, body.to_string().into(), headers).await?;
        decoded(method, path, &answer)
    }

    async fn call(
        &self,
        method: &Method,
        path: &str,
        body: Bytes,
        headers: &[(&str, &str)],
    ) -> Result<Answer, CallError> {
        let mut waited = Duration::ZERO;
        loop {
            let answer = self.http.send(self.request(method, path, &body, headers)?).await?;
            if answer.status.is_success() {
                return Ok(answer);
            }
            let Some(wait) = wait_after(&answer, waited) else {
                return Err(refused(call(method, path), &answer));
            };
            sleep(wait).await;
            waited += wait;
        }
    }

    fn request(
        &self,
        method: &Method,
        path: &str,
        body: &Bytes,
        headers: &[(&str, &str)],
    ) -> Result<Request<Full<Bytes>>, CallError> {
        let mut request = Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.root))
            .header(AUTHORIZATION, format!("Bearer {}", self.key))
            .header(ACCEPT, "application/json");
        if *method != Method::GET {
            request = request.header(CONTENT_TYPE, "application/json");
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        request
            .body(Full::new(body.clone()))
            .map_err(|error| CallError::NoAnswer { call: call(method, path), reason: error.to_string() })
    }
}

/// A value for the query of a path, or a part of the path.
pub(crate) fn encoded(text: &str) -> PercentEncode<'_> {
    utf8_percent_encode(text, NON_ALPHANUMERIC)
}

/// How long a call that has waited so long already waits before it asks again; `None` when it does not ask again.
fn wait_after(answer: &Answer, waited: Duration) -> Option<Duration> {
    let limited = answer.status == StatusCode::TOO_MANY_REQUESTS;
    retry_after(&answer.headers).filter(|wait| limited && waited.saturating_add(*wait) <= WAIT_MAX)
}

/// How long a client is asked to wait: whole seconds, at least one.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let seconds: u64 = headers.get(RETRY_AFTER)?.to_str().ok()?.parse().ok()?;
    Some(Duration::from_secs(seconds.max(1)))
}

/// The time in an error's words.
fn again(retry_after: Option<Duration>) -> String {
    retry_after.map_or_else(String::new, |wait| format!("; try again in {} s", wait.as_secs()))
}

fn refused(call: String, answer: &Answer) -> CallError {
    let problem: Option<Box<Value>> = serde_json::from_slice(&answer.body).ok();
    let text =
        |value: &Value, name: &str| value.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let code = problem.as_ref().map(|problem| text(problem, "code")).unwrap_or_default();
    let wrong = problem.as_ref().and_then(|problem| problem.get("errors")?.as_array());
    let member = |member: &Value| format!("{}: {}", text(member, "pointer"), text(member, "detail"));
    let members: Vec<String> = wrong.into_iter().flatten().map(member).collect();
    let members = if members.is_empty() { String::new() } else { format!(": {}", members.join("; ")) };
    let (status, retry_after) = (answer.status.as_u16(), retry_after(&answer.headers));
    CallError::Refused { call, status, code, problem, members, retry_after }
}

fn decoded<T: DeserializeOwned>(method: &Method, path: &str, answer: &Answer) -> Result<T, CallError> {
    serde_json::from_slice(&answer.body).map_err(|_| CallError::Unexpected { call: call(method, path) })
}

/// The name of a call in errors: without the query, which may be long.
fn call(method: &Method, path: &str) -> String {
    format!("{method} {}", path.split('?').next().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(status: u16, retry_after: Option<&'static str>) -> Answer {
        let header = retry_after.map(|text| (RETRY_AFTER, http::HeaderValue::from_static(text)));
        Answer {
            status: StatusCode::from_u16(status).unwrap(),
            headers: header.into_iter().collect(),
            body: Bytes::from_static(br#"{"code":"rate_limited"}"#),
        }
    }

    #[test]
    fn a_call_never_asks_again_sooner_than_it_was_told() {
        let seconds = |wait: u64| Some(Duration::from_secs(wait));
        for (status, told, waited, expected) in [
            (429, Some("1"), 0, seconds(1)),
            (429, Some("0"), 0, seconds(1)),
            (429, Some("30"), 0, seconds(30)),
            (429, Some("10"), 20, seconds(10)),
            (429, Some("10"), 21, None),
            (429, Some("31"), 0, None),
            (429, Some("18446744073709551615"), 29, None),
            (429, Some("soon"), 0, None),
            (429, None, 0, None),
            (503, Some("1"), 0, None),
        ] {
            let wait = wait_after(&answer(status, told), Duration::from_secs(waited));
            assert_eq!(wait, expected, "{status} {told:?} after {waited} s");
        }
    }

    #[test]
    fn a_refusal_names_the_time_to_try_again() {
        let told = |retry_after| refused("GET /a".to_owned(), &answer(429, retry_after)).to_string();
        assert_eq!(told(Some("90")), "GET /a answered 429 rate_limited; try again in 90 s");
        assert_eq!(told(None), "GET /a answered 429 rate_limited");
    }
}
