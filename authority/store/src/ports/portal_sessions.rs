//! Links to the merchant portal and the sessions that they become. The database knows the hash of what a link or a
//! cookie holds, never the value itself.

use async_trait::async_trait;
use authority_domain::id::PortalSessionId;
use authority_domain::merchant::Merchant;
use authority_domain::merchant::portal_session::PortalSession;
use authority_domain::time::Timestamp;

use crate::StoreError;

/// A session with what it rests on.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundPortalSession {
    /// The session, ended by time or not.
    pub session: PortalSession,
    /// Its merchant as it is now.
    pub merchant: Merchant,
    /// When the operator key that made it was revoked.
    pub key_revoked_at: Option<Timestamp>,
}

/// Links and sessions of the portal.
#[async_trait]
pub trait PortalSessions {
    /// Adds a link.
    async fn portal_session_insert(&mut self, session: &PortalSession) -> Result<(), StoreError>;

    /// The link or session with this hash.
    async fn portal_session(&mut self, hash: &[u8; 32]) -> Result<Option<FoundPortalSession>, StoreError>;

    /// Makes a session of a link that nobody has opened: from now on `cookie` finds it, and `link` nothing. False when
    /// there is no such link.
    async fn portal_session_open(
        &mut self,
        link: &[u8; 32],
        cookie: &[u8; 32],
        now: Timestamp,
    ) -> Result<bool, StoreError>;

    /// Ends a session.
    async fn portal_session_end(&mut self, id: &PortalSessionId) -> Result<(), StoreError>;

    /// Removes at most `limit` links and sessions whose time ended before `before`; how many.
    async fn portal_sessions_purge(&mut self, before: Timestamp, limit: i64) -> Result<u64, StoreError>;
}
