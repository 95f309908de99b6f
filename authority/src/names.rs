//! From the name of a receiver to its addresses, and whether events may go there (contract 7.6 rule 4).
//!
//! The name is resolved when an endpoint is made or changed, so that its merchant learns at once that nothing will be
//! sent there, and again for every connection, because answers change. Each answer is judged; one that is not allowed
//! spoils them all.
//!
//! The operating system resolves in a thread, which cannot be called back and may take as long as its name servers. So
//! everybody who asks for a name while it is being resolved gets the same answer: a name that hangs holds one thread,
//! however many deliveries wait for it.
//!
//! Deliberately absent: a memory of answers. What the connection pool does not save is asked again.

use std::collections::HashMap;
use std::io;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use authority_domain::address_policy::is_public;
use authority_domain::endpoint_url::{Reach, TargetUrl};
use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, Shared};
use tokio::sync::Semaphore;
use tokio::time::timeout;

/// Names that are resolved at a time, one thread each; the others wait. Half of the threads that the runtime has for
/// such work.
const LOOKUPS_MAX: usize = 256;

/// Turns a host name into addresses.
#[async_trait]
pub trait Resolve: Send + Sync {
    /// All addresses of this name.
    ///
    /// # Errors
    ///
    /// When the name has none, or nobody could be asked.
    async fn resolve(&self, host: &str) -> io::Result<Vec<IpAddr>>;
}

type Lookup = Shared<BoxFuture<'static, Result<Vec<IpAddr>, Arc<io::Error>>>>;

/// The operating system's resolver.
#[derive(Clone, Debug)]
pub struct SystemResolver {
    running: Arc<Mutex<HashMap<String, Lookup>>>,
    places: Arc<Semaphore>,
}

impl Default for SystemResolver {
    fn default() -> Self {
        Self { running: Arc::default(), places: Arc::new(Semaphore::new(LOOKUPS_MAX)) }
    }
}

impl SystemResolver {
    /// The lookup of this name that is under way, or a new one.
    fn lookup(&self, host: &str) -> Lookup {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(lookup) = running.get(host) {
            return lookup.clone();
        }
        // A task of its own: whoever gives up waiting does not end it for the others.
        let task = tokio::spawn(self.clone().ask(host.to_owned()));
        let lookup =
            task.map(|asked| asked.map_err(io::Error::other).and_then(|found| found).map_err(Arc::new));
        let lookup = lookup.boxed().shared();
        running.insert(host.to_owned(), lookup.clone());
        lookup
    }

    async fn ask(self, host: String) -> io::Result<Vec<IpAddr>> {
        // The places are never closed.
        let _place = self.places.acquire().await.map_err(io::Error::other)?;
        let found = tokio::net::lookup_host((host.as_str(), 0)).await;
        self.running.lock().unwrap_or_else(PoisonError::into_inner).remove(&host);
        Ok(found?.map(|address| address.ip()).collect())
    }
}

#[async_trait]
impl Resolve for SystemResolver {
    async fn resolve(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        self.lookup(host).await.map_err(|error| io::Error::new(error.kind(), error))
    }
}

/// Whether a receiver within this reach may have this address.
pub(crate) fn allows(reach: Reach, address: IpAddr) -> bool {
    match reach {
        Reach::Public => is_public(address),
        Reach::Loopback => address.to_canonical().is_loopback(),
    }
}

/// Whether the name in this URL leads to an address that is not allowed, as far as can be found out within `limit`. A
/// name that leads nowhere yet, or whose name server does not answer, is given the benefit of the doubt: it is judged
/// again before anything is sent.
pub(crate) async fn leads_astray(names: &dyn Resolve, target: &TargetUrl, limit: Duration) -> bool {
    match timeout(limit, names.resolve(target.host())).await {
        Ok(Ok(addresses)) => !addresses.into_iter().all(|address| allows(target.reach(), address)),
        Ok(Err(_)) | Err(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_operating_system_knows_this_machine() {
        let resolver = SystemResolver::default();
        let (one, two) = tokio::join!(resolver.resolve("localhost"), resolver.resolve("localhost"));
        let one = one.unwrap();
        assert!(!one.is_empty() && one.iter().all(|address| allows(Reach::Loopback, *address)), "{one:?}");
        assert_eq!(two.unwrap(), one);
        assert!(resolver.running.lock().unwrap().is_empty(), "nothing is remembered");
    }

    #[tokio::test]
    async fn a_name_is_resolved_once_for_all_who_ask_meanwhile() {
        let resolver = SystemResolver { running: Arc::default(), places: Arc::new(Semaphore::new(0)) };
        let asked: Vec<_> = (0..100)
            .map(|nth| resolver.lookup(if nth % 2 == 0 { "localhost" } else { "localhost." }))
            .collect();
        assert_eq!(resolver.running.lock().unwrap().len(), 2);
        // Whoever gives up does not end it for the others.
        let mut asked = asked.into_iter();
        drop(asked.next());
        resolver.places.add_permits(1);
        for lookup in asked {
            // The second name may not be known here; it is answered all the same.
            let _answer = lookup.await;
        }
        assert!(resolver.running.lock().unwrap().is_empty());
    }

    #[tokio::test]
    async fn a_name_that_does_not_exist_is_an_error() {
        let found = SystemResolver::default().resolve("no-such-name.invalid").await;
        assert!(found.is_err(), "{found:?}");
    }
}
