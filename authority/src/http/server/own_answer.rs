//! The answer to bytes that hyper itself refuses.
//!
//! hyper answers an unreadable request with a bare status line, before any service sees the request. The stream
//! withholds that answer ([`bare_status`]), asks the router for the one that every other refusal gets, and sends
//! it instead when the connection is closed. So it has an id, the headers and the problem body of contract 5.4,
//! and is counted and logged.

use std::convert::Infallible;
use std::future::Future;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::response::Response;
use bytes::Bytes;
use http::StatusCode;
use http::header::{CONNECTION, CONTENT_LENGTH, DATE};
use tokio::io::AsyncWrite;
use tower::ServiceExt;

use super::PeerAddress;
use super::defect::{Defect, Malformed};

/// Larger than any problem body.
const BODY_LIMIT: usize = 64 * 1024;

/// The status of hyper's own refusal in `bytes`, and its date.
pub(super) fn bare_status(bytes: &[u8]) -> Option<(StatusCode, String)> {
    let refusal = bytes.starts_with(b"HTTP/1.1 4") || bytes.starts_with(b"HTTP/1.0 4");
    if !refusal {
        return None;
    }
    let mut lines = [httparse::EMPTY_HEADER; 16];
    let mut answer = httparse::Response::new(&mut lines);
    answer.parse(bytes).ok().filter(httparse::Status::is_complete)?;
    let status = StatusCode::from_u16(answer.code?).ok()?;
    let date = answer.headers.iter().find(|line| line.name.eq_ignore_ascii_case("date"));
    Some((status, date.map(|line| String::from_utf8_lossy(line.value).into_owned()).unwrap_or_default()))
}

/// The answer that is sent instead of hyper's.
pub(super) enum OwnAnswer {
    Asked(Pin<Box<dyn Future<Output = Bytes> + Send>>),
    Written { bytes: Bytes },
}

impl OwnAnswer {
    pub(super) fn new(router: Router, peer: SocketAddr, defect: Defect, date: String) -> Self {
        Self::Asked(Box::pin(refuse(router, peer, defect, date)))
    }

    /// Writes the answer to the end.
    pub(super) fn poll_write(
        &mut self,
        cx: &mut Context<'_>,
        stream: &mut (impl AsyncWrite + Unpin),
    ) -> Poll<std::io::Result<()>> {
        if let Self::Asked(asked) = self {
            *self = Self::Written { bytes: ready!(asked.as_mut().poll(cx)) };
        }
        while let Self::Written { bytes } = self {
            if bytes.is_empty() {
                break;
            }
            let written = ready!(Pin::new(&mut *stream).poll_write(cx, bytes))?;
            if written == 0 {
                return Poll::Ready(Err(std::io::ErrorKind::WriteZero.into()));
            }
            let _ = bytes.split_to(written.min(bytes.len()));
        }
        Poll::Ready(Ok(()))
    }
}

async fn refuse(router: Router, peer: SocketAddr, defect: Defect, date: String) -> Bytes {
    let mut request = Request::new(Body::empty());
    request.extensions_mut().insert(PeerAddress(peer));
    request.extensions_mut().insert(Malformed(defect));
    let response: Result<Response, Infallible> = router.oneshot(request).await;
    let (parts, body) = match response {
        Ok(response) => response.into_parts(),
        Err(never) => match never {},
    };
    let body = to_bytes(body, BODY_LIMIT).await.unwrap_or_default();
    let mut answer = Vec::with_capacity(body.len() + 1024);
    let status = parts.status;
    let line = format!("HTTP/1.1 {} {}\r\n", status.as_str(), status.canonical_reason().unwrap_or_default());
    answer.extend(line.bytes());
    for (name, value) in
        parts.headers.iter().filter(|(name, _)| ![CONNECTION, CONTENT_LENGTH, DATE].contains(*name))
    {
        answer.extend(name.as_str().bytes().chain(*b": "));
        answer.extend_from_slice(value.as_bytes());
        answer.extend(*b"\r\n");
    }
    let date = if date.is_empty() { String::new() } else { format!("date: {date}\r\n") };
    answer.extend(format!("{date}connection: close\r\ncontent-length: {}\r\n\r\n", body.len()).bytes());
    answer.extend(body);
    answer.into()
}
