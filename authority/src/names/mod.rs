//! From the name of a receiver to its addresses, and whether events may go there (contract 7.6 rule 4, 18.4-2).
//!
//! The name is resolved when an endpoint is made or changed ([`TargetJudge`]), so that its merchant learns at once that
//! nothing will be sent there, and again for every connection, because answers change. Each answer is judged, whether it
//! is new or remembered; one that is not allowed spoils them all.
//!
//! Whoever owns a name decides how long its name server takes, so a look-up may hold up nobody else: [`SystemResolver`]
//! asks the name servers itself, without a thread, gives a look-up up when nobody waits for it any more, and bounds how
//! many may be slow at a time.

mod judge;
mod lookups;
mod system;

use std::io;
use std::net::IpAddr;

use async_trait::async_trait;
use authority_domain::endpoint::address_policy::is_public;
use authority_domain::endpoint::url::NetworkScope;

pub use self::judge::TargetJudge;
pub use self::system::SystemResolver;

/// Turns a host name into addresses.
#[async_trait]
pub trait Resolve: Send + Sync {
    /// All addresses of this name. A future that is dropped ends the look-up, unless others wait for the same name.
    ///
    /// # Errors
    ///
    /// When the name has none, or nobody could be asked.
    async fn resolve(&self, host: &str) -> io::Result<Vec<IpAddr>>;
}

/// Whether a receiver within this reach may have this address.
pub(crate) fn allows(reach: NetworkScope, address: IpAddr) -> bool {
    match reach {
        NetworkScope::Public => is_public(address),
        NetworkScope::Loopback => address.to_canonical().is_loopback(),
    }
}
