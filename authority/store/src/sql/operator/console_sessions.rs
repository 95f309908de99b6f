//! Sessions of the operator's console. The database knows the hash of what a cookie holds, never the value itself.

use authority_domain::{KeyId, Timestamp};

use crate::sql::merchant::access::{OperatorKeyRecord, operator_key};
use crate::sql::{Result, Tx, query};

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

impl Tx {
    /// Adds a session.
    pub async fn console_session_insert(&mut self, session: &ConsoleSession) -> Result<()> {
        query("INSERT INTO console_sessions (hash, key_id, created_at, used_at) VALUES ($1, $2, $3, $4)")
            .binds((session.hash.as_slice(), session.key_id.as_str(), session.created_at.as_ms()))
            .bind(session.used_at.as_ms())
            .run(&mut self.conn)
            .await
    }

    /// A session with the key that it belongs to, revoked or not.
    pub async fn console_session(
        &mut self,
        hash: &[u8; 32],
    ) -> Result<Option<(ConsoleSession, OperatorKeyRecord)>> {
        query(
            "SELECT s.created_at AS begun_at, s.used_at, k.id, k.hash, k.name, k.display, k.scopes, k.revoked_at, \
                 k.created_at FROM console_sessions s JOIN operator_keys k ON k.id = s.key_id WHERE s.hash = $1",
        )
        .bind(hash.as_slice())
        .read_optional_as(&mut self.conn, |row| {
            let session = ConsoleSession {
                hash: *hash,
                key_id: KeyId::from_store(row.get("id")?),
                created_at: row.read("begun_at")?,
                used_at: row.read("used_at")?,
            };
            Ok((session, operator_key(row)?))
        })
        .await
    }

    /// Records that a session was used.
    pub async fn console_session_used(&mut self, hash: &[u8; 32], now: Timestamp) -> Result<()> {
        query("UPDATE console_sessions SET used_at = $2 WHERE hash = $1 AND used_at < $2")
            .binds((hash.as_slice(), now.as_ms()))
            .run(&mut self.conn)
            .await
    }

    /// Ends a session.
    pub async fn console_session_end(&mut self, hash: &[u8; 32]) -> Result<()> {
        query("DELETE FROM console_sessions WHERE hash = $1").bind(hash.as_slice()).run(&mut self.conn).await
    }

    /// Removes at most `limit` sessions that were last used before `before`; how many. One that is used meanwhile is
    /// looked at again, and stays.
    pub async fn console_sessions_purge(&mut self, before: Timestamp, limit: i64) -> Result<u64> {
        Ok(query(
            "DELETE FROM console_sessions WHERE used_at + 0 < $1 AND hash IN \
                 (SELECT hash FROM console_sessions WHERE used_at < $1 ORDER BY used_at LIMIT $2)",
        )
        .binds((before.as_ms(), limit))
        .write(&mut self.conn)
        .await?)
    }
}
