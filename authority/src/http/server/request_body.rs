//! Bodies under the server's limits: a request's body has one deadline as a whole, and an answer's body notes when
//! it was handed off.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::BoxError;
use axum::body::Body;
use bytes::Bytes;
use http_body::{Body as HttpBody, Frame, SizeHint};
use hyper::body::Incoming;
use tokio::time::Sleep;

use super::connections::{ActiveRequest, Slot};

/// The body did not arrive within its deadline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the body did not arrive in time")]
pub struct BodyTimeout;

/// A request's body. While it is waited for, its connection can be evicted.
pub(super) struct RequestBody {
    incoming: Incoming,
    slot: Arc<Slot>,
    /// `None` for a body that is empty from the start.
    deadline: Option<Pin<Box<Sleep>>>,
    state: BodyState,
}

/// Whether a request's body was read to its end.
#[derive(Clone, Default)]
pub(super) struct BodyState(Arc<AtomicBool>);

impl BodyState {
    pub(super) fn is_finished(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }

    fn finish(&self) {
        self.0.store(true, Ordering::Release);
    }
}

impl RequestBody {
    /// Wraps an incoming body so that it must be complete within `timeout`; also returns a shared flag for whether
    /// it was read to its end.
    pub(super) fn new(incoming: Incoming, slot: Arc<Slot>, timeout: Duration) -> (Self, BodyState) {
        let state = BodyState::default();
        let empty = incoming.is_end_stream();
        if empty {
            state.finish();
        }
        let deadline = (!empty).then(|| Box::pin(tokio::time::sleep(timeout)));
        (Self { incoming, slot, deadline, state: state.clone() }, state)
    }
}

impl HttpBody for RequestBody {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let this = self.get_mut();
        if this.deadline.as_mut().is_some_and(|deadline| deadline.as_mut().poll(cx).is_ready()) {
            return Poll::Ready(Some(Err(BodyTimeout.into())));
        }
        let frame = Pin::new(&mut this.incoming).poll_frame(cx);
        if matches!(frame, Poll::Ready(None)) || this.incoming.is_end_stream() {
            this.state.finish();
            if let Err(evicted) = this.slot.end_body() {
                return Poll::Ready(Some(Err(evicted.into())));
            }
        } else if frame.is_pending() {
            this.slot.await_body();
        }
        frame.map_err(Into::into)
    }

    fn is_end_stream(&self) -> bool {
        self.incoming.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.incoming.size_hint()
    }
}

impl Drop for RequestBody {
    /// Whoever read it needs no more of it, and answers.
    fn drop(&mut self) {
        let _ = self.slot.end_body();
    }
}

/// An answer's body; ends the active request when hyper has taken all of it.
pub(super) struct ResponseBody {
    body: Body,
    _turn: ActiveRequest,
}

impl ResponseBody {
    pub(super) fn new(body: Body, turn: ActiveRequest) -> Self {
        Self { body, _turn: turn }
    }
}

impl HttpBody for ResponseBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.get_mut().body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
