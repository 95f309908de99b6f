//! The last check of a request that brings a URL: where its name leads (contract 7.6 rule 4, 18.4-2).
//!
//! A name server may take its time, so it is asked outside the transaction; and whoever owns a name decides how long, so
//! it is asked only when nothing else is wrong. The use case therefore runs twice. The first run ends at this check: all
//! others have passed, and nothing is written. Then the name is resolved and judged, and the use case runs again, with all
//! its checks, since the world may have changed meanwhile. A request that is refused otherwise, or answered from its
//! idempotency key, resolves nothing.

use std::sync::{Arc, Mutex, PoisonError};

use authority_domain::endpoint::url::{TargetUrl, UrlRules};
use authority_domain::endpoint::url_address_blocked;
use authority_domain::refusal::Refusal;
use authority_domain::tenant::Tenant;
use serde_json::Value;

use crate::app::{Answer, App};

/// Where the first run leaves the URL that is to be judged; `None` once it has been.
#[derive(Clone)]
pub(in crate::app) struct UrlCheck(Option<Arc<Mutex<Option<TargetUrl>>>>);

impl UrlCheck {
    /// Passes when the URL of this body has been judged, or there is none.
    ///
    /// # Errors
    /// In the first run, which this ends.
    pub(in crate::app) fn of_body(
        &self,
        urls: &UrlRules,
        body: &Value,
        livemode: bool,
    ) -> Result<(), Refusal> {
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
    /// Those of the use case; `endpoint_url_forbidden` for a name that leads to an address that is not allowed.
    pub(in crate::app) async fn checking_url<R>(
        &self,
        tenant: &Tenant,
        run: impl Fn(UrlCheck) -> R,
    ) -> Result<Answer, Refusal>
    where
        R: Future<Output = Result<Answer, Refusal>>,
    {
        // Where a proxy resolves names, it judges them too.
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
