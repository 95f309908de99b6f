//! Sessions of the operator's console. The database knows the hash of what a cookie holds, never the value itself.

use async_trait::async_trait;
use authority_domain::id::KeyId;
use authority_domain::time::Timestamp;

use super::OperatorKeyRecord;
use crate::StoreError;

/// A session that has not been ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConsoleSession {
    /// SHA-256 of what the cookie holds.
    pub hash: [u8; 32],
    /// The operator key that signed in.
    pub key_id: KeyId,
    /// When it began.
    pub created_at: Timestamp,
    /// When it was last used, to about a minute.
    pub used_at: Timestamp,
}

/// Sessions of the console.
#[async_trait]
pub trait ConsoleSessions {
    /// Adds a session.
    async fn console_session_insert(&mut self, session: &ConsoleSession) -> Result<(), StoreError>;

    /// A session with the key that it belongs to, revoked or not.
    async fn console_session(
        &mut self,
        hash: &[u8; 32],
    ) -> Result<Option<(ConsoleSession, OperatorKeyRecord)>, StoreError>;

    /// Records that a session was used.
    async fn console_session_used(&mut self, hash: &[u8; 32], now: Timestamp) -> Result<(), StoreError>;

    /// Ends a session.
    async fn console_session_end(&mut self, hash: &[u8; 32]) -> Result<(), StoreError>;

    /// Removes at most `limit` sessions that were last used before `before`; how many.
    async fn console_sessions_purge(&mut self, before: Timestamp, limit: i64) -> Result<u64, StoreError>;
}
