//! Why a receiver refused a delivery: what it got, judged with the secrets of its endpoint (contract 17, 20).
//!
//! The secrets are opened for the judgement and never shown. Those whose overlap is over are only searched: a receiver
//! that was signed for with one of them learns that.
//!
//! A judgement may take many times the memory and the time of reading its body. So few run at once, whoever asks for
//! them, and no body is longer than an event's can be.

use authority_domain::{EndpointId, ErrorCode, Refusal, Result, Timestamp};
use authority_store::StoreError;
use authority_store::hand_off::SealedSecret;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::task::spawn_blocking;
use verify_core::Tolerance;
use verify_explain::{Delivery, Explanation, HeaderLine, Trust};
use zeroize::Zeroizing;

use crate::app::App;
use crate::secret_box::SecretContext;

/// Judgements at a time, of all who ask.
static JUDGEMENTS: Semaphore = Semaphore::const_new(2);

/// The longest body of an event (contract 5.6), in bytes.
pub const BODY_MAX: usize = 256 * 1024;

/// More than an endpoint has secrets at a time.
const SECRETS_MAX: i64 = 8;

/// What a receiver got.
#[derive(Clone, Debug)]
pub struct ReceivedDelivery {
    /// Names and values, in any order.
    pub headers: Vec<(String, String)>,
    /// The body, byte by byte.
    pub body: Vec<u8>,
    /// When it arrived; `None` for the time at which it was signed, so that its age is no cause.
    pub received_at: Option<Timestamp>,
}

impl App {
    /// Judges what a receiver got as the receiver of this endpoint should have.
    ///
    /// # Errors
    /// `payload_too_large` for a body that no event has; `rate_limited` while others have all judgements; what the
    /// store reports, and `internal_error` when a secret cannot be opened.
    pub async fn explain_delivery(
        &self,
        endpoint: &EndpointId,
        received: ReceivedDelivery,
    ) -> Result<Explanation> {
        if received.body.len() > BODY_MAX {
            return Err(Refusal::new(
                ErrorCode::PayloadTooLarge,
                "The body of an event has at most 256 KiB.",
            ));
        }
        let judging = judging()?;
        let (id, first) = (endpoint.clone(), (endpoint.clone(), 0));
        let sealed: Vec<SealedSecret> = self
            .read(async move |tx| {
                let page = tx.sealed_secrets(Some(&first), SECRETS_MAX).await?;
                Ok::<_, StoreError>(
                    page.into_iter().filter(|(of, _)| *of == id).map(|(_, secret)| secret).collect(),
                )
            })
            .await?;
        let now = self.now();
        let (mut trusted, mut ended) = (Vec::new(), Vec::new());
        for secret in &sealed {
            let list = if secret.expires_at.is_none_or(|at| at > now) { &mut trusted } else { &mut ended };
            list.push(self.opened(endpoint, secret)?);
        }
        // It may try many forms of a large body.
        let explained = spawn_blocking(move || {
            // It goes on when whoever asked has gone, and counts as long as it does.
            let _judging = judging;
            judged(&received, &trusted, &ended, now)
        });
        explained.await.map_err(|_| Refusal::internal())?
    }

    fn opened(&self, endpoint: &EndpointId, secret: &SealedSecret) -> Result<Zeroizing<String>> {
        let secret_version = u32::try_from(secret.version).unwrap_or(0);
        let context = SecretContext::SigningSecret { endpoint_id: endpoint.as_str(), secret_version };
        self.secrets.open(context, &secret.sealed).map_err(|_| Refusal::internal())
    }
}

/// The right to one judgement.
fn judging() -> Result<SemaphorePermit<'static>> {
    JUDGEMENTS.try_acquire().map_err(|_| {
        let detail = "Others have their deliveries judged just now; try again in a second.";
        Refusal::new(ErrorCode::RateLimited, detail).retry_after(1)
    })
}

fn judged(
    received: &ReceivedDelivery,
    trusted: &[Zeroizing<String>],
    ended: &[Zeroizing<String>],
    now: Timestamp,
) -> Result<Explanation> {
    let lines: Vec<HeaderLine<'_>> =
        received.headers.iter().map(|(name, value)| HeaderLine { name, value: value.as_bytes() }).collect();
    let delivery = Delivery::of_lines(&received.body, &lines);
    let signed_at = delivery.headers.timestamp.and_then(|text| std::str::from_utf8(text).ok()?.parse().ok());
    let trust = Trust {
        secrets: &trusted.iter().map(|secret| secret.as_str()).collect::<Vec<_>>(),
        other_secrets: &ended.iter().map(|secret| secret.as_str()).collect::<Vec<_>>(),
        tolerance: Tolerance::DEFAULT,
        now: received
            .received_at
            .map(Timestamp::as_unix_seconds)
            .or(signed_at)
            .unwrap_or(now.as_unix_seconds()),
    };
    verify_explain::explain(&delivery, &trust).map_err(|_| Refusal::internal())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_are_judged_at_once() {
        let (first, _second) = (judging().unwrap(), judging().unwrap());
        let refused = judging().unwrap_err();
        assert_eq!((refused.code, refused.retry_after_s), (ErrorCode::RateLimited, Some(1)));
        drop(first);
        assert!(judging().is_ok());
    }
}
