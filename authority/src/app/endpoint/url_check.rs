//! The last check of a request with a URL: the addresses that its host name resolves to (contract 7.6 rule 4,
//! 18.4-2).
//!
//! A name server may be slow, so it is queried outside the transaction. The owner of a name decides how slow, so
//! it is queried only when the request is valid otherwise. The use case therefore runs twice. The first run ends
//! at this check: all other checks have passed, and nothing is written. Then the name is resolved and judged, and
//! the use case runs again with all its checks, since records may have changed meanwhile. A request that is
//! refused for another reason, or answered from its idempotency key, resolves nothing.

use std::sync::{Arc, Mutex, PoisonError};

use authority_domain::endpoint::url::{TargetUrl, UrlRules};
use authority_domain::endpoint::url_address_blocked;
use authority_domain::{Result, Tenant};
use serde_json::Value;

use crate::app::{Answer, App};

/// Where the first run stores the URL to be judged; `None` once it has been judged.
#[derive(Clone)]
pub(in crate::app) struct UrlCheck(Option<Arc<Mutex<Option<TargetUrl>>>>);

impl UrlCheck {
    /// Passes when the URL of this body has been judged, or when there is none.
    ///
    /// # Errors
    /// In the first run, which ends here.
    pub(in crate::app) fn of_body(&self, urls: &UrlRules, body: &Value, livemode: bool) -> Result<()> {
        let Some(to_judge) = &self.0 else { return Ok(()) };
        let url = body.get("url").and_then(Value::as_str);
        let Some(target) = url.and_then(|url| urls.parse(url, livemode).ok()) else { return Ok(()) };
        *to_judge.lock().unwrap_or_else(PoisonError::into_inner) = Some(target);
        Err(url_address_blocked())
    }
}

impl App {
    /// Runs a use case that ends with a [`UrlCheck`].
    ///
    /// # Errors
    /// Those of the use case; `endpoint_url_forbidden` for a name that resolves to a forbidden address.
    pub(in crate::app) async fn checking_url<R>(
        &self,
        tenant: &Tenant,
        run: impl Fn(UrlCheck) -> R,
    ) -> Result<Answer>
    where
        R: Future<Output = Result<Answer>>,
    {
        let Some(judge) = &self.target_judge else { return run(UrlCheck(None)).await };
        let to_judge = Arc::<Mutex<Option<TargetUrl>>>::default();
        let answer = run(UrlCheck(Some(Arc::clone(&to_judge)))).await;
        let target = to_judge.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(target) = target else { return answer };
        if judge.resolves_to_forbidden_address(&tenant.merchant_id, &target).await {
            return Err(url_address_blocked());
        }
        run(UrlCheck(None)).await
    }
}
