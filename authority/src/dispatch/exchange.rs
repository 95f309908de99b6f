//! Sends one request and reads the response's headers, or says why there are none (contract 7.3, 18.4-4).
//!
//! A request may be sent again within its attempt, under the attempt's deadline. [`SendAgain`] says when this is
//! safe: it makes no second delivery, or no more of one than the closed connection already made.

use std::error::Error as StdError;
use std::io;
use std::sync::Arc;

use authority_domain::AttemptOutcome;
use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;

use super::connector::ConnectFailure;
use super::pool::{LeasedBody, Origin, Pool, SendAgain};

/// The most times a request is sent within one attempt.
const TRIES_MAX: usize = 3;

/// Why there is no response.
pub(super) type NoResponse = Arc<dyn StdError + Send + Sync>;

/// Sends the request and reads the response's headers: on one connection, or on another one where that makes no
/// second delivery.
pub(super) async fn exchange(
    pool: &Arc<Pool>,
    origin: &Origin,
    request: Request<Full<Bytes>>,
) -> Result<Response<LeasedBody>, NoResponse> {
    let (mut tries, mut after) = (1, None);
    loop {
        let lease = pool.lease(origin, after).await.map_err(|failure| failure as NoResponse)?;
        let failed = match lease.send(request.clone()).await {
            Ok(response) => return Ok(response),
            Err(failed) => failed,
        };
        after = match failed.again {
            SendAgain::Fresh if tries < TRIES_MAX => Some(failed.number),
            SendAgain::Elsewhere if tries < TRIES_MAX => None,
            _ if failed.tls_failed => return Err(Arc::new(ConnectFailure::Tls(failed.error.into()))),
            _ => return Err(Arc::new(failed.error)),
        };
        tries += 1;
        tracing::debug!(cause = ?failed.error, "not processed: sent again");
    }
}

/// The outcome of a failed request. The first error in the chain that says something decides.
pub(super) fn outcome_of(error: &(dyn StdError + 'static)) -> AttemptOutcome {
    let mut current: Option<&(dyn StdError + 'static)> = Some(error);
    while let Some(error) = current {
        if let Some(outcome) = error.downcast_ref::<ConnectFailure>().and_then(ConnectFailure::outcome) {
            return outcome;
        }
        if let Some(error) = error.downcast_ref::<hyper::Error>() {
            let lost = error.is_incomplete_message() || error.is_closed() || error.is_canceled();
            // The connection is gone: its HTTP/2 ping was not answered, or its task ended with requests in its
            // queue.
            if lost || error.is_timeout() || error.is_user() {
                return AttemptOutcome::ConnectError;
            }
            if error.is_parse() {
                return AttemptOutcome::ProtocolError;
            }
        }
        if let Some(error) = error.downcast_ref::<h2::Error>() {
            let refused = error.is_remote()
                && (error.is_go_away() || error.reason() == Some(h2::Reason::REFUSED_STREAM));
            let lost = error.is_io() || refused;
            return if lost { AttemptOutcome::ConnectError } else { AttemptOutcome::ProtocolError };
        }
        if let Some(error) = error.downcast_ref::<io::Error>() {
            // A receiver may refuse after the handshake (TLS 1.3); then reading fails.
            let refused = error.get_ref().is_some_and(|inner| inner.is::<rustls::Error>());
            return if refused { AttemptOutcome::TlsError } else { AttemptOutcome::ConnectError };
        }
        current = error.source();
    }
    AttemptOutcome::ProtocolError
}

pub(super) fn innermost(error: &(dyn StdError + 'static)) -> String {
    let mut innermost: &dyn StdError = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    innermost.to_string()
}
