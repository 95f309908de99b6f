//! Resolves the name of a receiver to its addresses, and judges whether events may be sent there (contract 7.6 rule
//! 4, 18.4-2).
//!
//! The name is resolved when an endpoint is created or changed ([`TargetJudge`]), so that its merchant learns at
//! once if nothing will be sent there. It is resolved again for every connection, because answers change. Each
//! answer is judged, whether new or cached; one address that is not allowed makes the whole answer refused.
//!
//! The owner of a name decides how long its name server takes, so one look-up must not delay others.
//! [`SystemResolver`] asks the name servers itself, without a thread. It abandons a look-up when no request waits
//! for it any more, and bounds how many may be slow at a time.

mod judge;
mod lookups;
mod system;

use std::io;
use std::net::IpAddr;

pub use self::judge::TargetJudge;
pub use self::system::SystemResolver;
use async_trait::async_trait;

/// Turns a host name into addresses.
#[async_trait]
pub trait Resolve: Send + Sync {
    /// All addresses of this name. Dropping the future ends the look-up, unless others wait for the same name.
    ///
    /// # Errors
    ///
    /// When the name has no address, or no name server could be asked.
    async fn resolve(&self, host: &str) -> io::Result<Vec<IpAddr>>;
}
