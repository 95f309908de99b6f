//! Judges where a new URL leads, while the request that brings it waits (contract 7.6, 18.4-2).
//!
//! Each merchant may have a few names resolved at a time. Further requests of the same merchant wait; those of other
//! merchants are not affected.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use authority_domain::MerchantId;
use authority_domain::endpoint::private_receivers::PrivateReceivers;
use authority_domain::endpoint::url::{NetworkScope, TargetUrl};
use tokio::sync::Semaphore;
use tokio::time::timeout;

use super::Resolve;

/// The most names that are resolved for one merchant's requests at a time.
const PLACES_OF_A_MERCHANT: usize = 2;

/// The longest that a request waits for a slot and for the receiver's name server together.
const LIMIT: Duration = Duration::from_secs(2);

/// Judges the URLs that requests bring.
pub struct TargetJudge {
    names: Arc<dyn Resolve>,
    private: PrivateReceivers,
    /// A proxy resolves and judges the names of public receivers.
    behind_proxy: bool,
    limit: Duration,
    /// The resolution slots of each merchant for which a name is being resolved.
    places: Mutex<HashMap<MerchantId, Arc<Semaphore>>>,
}

impl TargetJudge {
    /// A judge that asks this resolver, and allows these private receivers. Behind a proxy, which resolves and judges
    /// the names of public receivers, it refuses none of those.
    #[must_use]
    pub fn new(names: Arc<dyn Resolve>, private: PrivateReceivers, behind_proxy: bool) -> Self {
        Self { names, private, behind_proxy, limit: LIMIT, places: Mutex::default() }
    }

    /// Whether the name in this URL leads to an address that is not allowed, as far as can be found out in time. A
    /// name that does not resolve yet, or whose name server does not answer, is accepted: it is judged again before
    /// anything is sent.
    pub(crate) async fn resolves_to_forbidden_address(
        &self,
        merchant: &MerchantId,
        target: &TargetUrl,
    ) -> bool {
        let scope = target.scope();
        if self.behind_proxy && scope == NetworkScope::Public {
            return false;
        }
        let asking = Asking::begin(self, merchant);
        let found = timeout(self.limit, async {
            // The semaphore is never closed.
            let _place = asking.places.acquire().await.ok()?;
            self.names.resolve(target.host()).await.ok()
        });
        match found.await {
            Ok(Some(addresses)) => !addresses.into_iter().all(|address| self.private.allow(scope, address)),
            Ok(None) | Err(_) => false,
        }
    }

    fn locked(&self) -> MutexGuard<'_, HashMap<MerchantId, Arc<Semaphore>>> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request of this merchant that waits for a slot or holds one.
struct Asking<'j> {
    judge: &'j TargetJudge,
    merchant: &'j MerchantId,
    places: Arc<Semaphore>,
}

impl<'j> Asking<'j> {
    fn begin(judge: &'j TargetJudge, merchant: &'j MerchantId) -> Self {
        let mut all = judge.locked();
        let places =
            all.entry(merchant.clone()).or_insert_with(|| Arc::new(Semaphore::new(PLACES_OF_A_MERCHANT)));
        Self { judge, merchant, places: Arc::clone(places) }
    }
}

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        let mut all = self.judge.locked();
        // Two references are left, this one and the map's: new ones are made only under the lock.
        if Arc::strong_count(&self.places) == 2 {
            all.remove(self.merchant);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::net::IpAddr;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use async_trait::async_trait;
    use authority_domain::Tenant;
    use authority_domain::endpoint::url::{UrlPolicy, UrlRules};
    use futures_util::FutureExt as _;
    use futures_util::future::join_all;

    use super::*;

    /// Answers one name only, and counts the requests it gets.
    #[derive(Default)]
    struct Names {
        asked: AtomicUsize,
    }

    #[async_trait]
    impl Resolve for Names {
        async fn resolve(&self, host: &str) -> io::Result<Vec<IpAddr>> {
            self.asked.fetch_add(1, Ordering::SeqCst);
            match host {
                "inside.example.com" => Ok(vec!["10.0.0.1".parse().unwrap()]),
                _ => std::future::pending().await,
            }
        }
    }

    fn judge(names: Arc<dyn Resolve>) -> TargetJudge {
        TargetJudge::new(names, PrivateReceivers::default(), false)
    }

    fn target(host: &str) -> TargetUrl {
        UrlRules::new(UrlPolicy::Public).parse(&format!("https://{host}/hook"), true).unwrap()
    }

    #[tokio::test]
    async fn a_merchant_has_places_of_its_own_and_a_dropped_request_frees_one() {
        let names = Arc::new(Names::default());
        let judge = judge(Arc::clone(&names) as Arc<dyn Resolve>);
        let (loud, other) = (Tenant::operator().merchant_id, MerchantId::from_store("mer_other".to_owned()));
        let silent: Vec<_> = (0..10).map(|n| target(&format!("{n}.hang.example.com"))).collect();
        let mut waiting =
            join_all(silent.iter().map(|target| judge.resolves_to_forbidden_address(&loud, target)));
        assert!((&mut waiting).now_or_never().is_none());
        assert_eq!(names.asked.load(Ordering::SeqCst), 2, "the others wait for a place");
        let inside = target("inside.example.com");
        assert!(
            judge.resolves_to_forbidden_address(&other, &inside).await,
            "another merchant is not held up"
        );
        drop(waiting);
        assert!(judge.locked().is_empty());
        assert!(judge.resolves_to_forbidden_address(&loud, &inside).await);
    }

    #[tokio::test]
    async fn a_name_server_that_does_not_answer_refuses_nothing() {
        let judge = TargetJudge { limit: Duration::ZERO, ..judge(Arc::new(Names::default())) };
        let merchant = Tenant::operator().merchant_id;
        assert!(!judge.resolves_to_forbidden_address(&merchant, &target("hang.example.com")).await);
    }
}
