//! Sessions of the operator's console.

use async_trait::async_trait;
use authority_domain::id::KeyId;
use authority_domain::time::Timestamp;
use sqlx::Row;

use super::Session;
use super::access::operator_key;
use crate::StoreError;
use crate::ports::{ConsoleSession, ConsoleSessions, OperatorKeyRecord};

#[async_trait]
impl ConsoleSessions for Session<'_> {
    async fn console_session_insert(&mut self, session: &ConsoleSession) -> Result<(), StoreError> {
        sqlx::query(
            "INSERT INTO console_sessions (hash, key_id, created_at, used_at) VALUES ($1, $2, $3, $4)",
        )
        .bind(session.hash.as_slice())
        .bind(session.key_id.as_str())
        .bind(session.created_at.as_ms())
        .bind(session.used_at.as_ms())
        .execute(&mut *self.conn)
        .await?;
        Ok(())
    }

    async fn console_session(
        &mut self,
        hash: &[u8; 32],
    ) -> Result<Option<(ConsoleSession, OperatorKeyRecord)>, StoreError> {
        let row = sqlx::query(
            "SELECT s.created_at AS begun_at, s.used_at, k.id, k.hash, k.name, k.display, k.scopes, k.revoked_at, \
                 k.created_at FROM console_sessions s JOIN operator_keys k ON k.id = s.key_id WHERE s.hash = $1",
        )
        .bind(hash.as_slice())
        .fetch_optional(&mut *self.conn)
        .await?;
        let Some(row) = row else { return Ok(None) };
        let session = ConsoleSession {
            hash: *hash,
            key_id: KeyId::from_store(row.try_get("id")?),
            created_at: Timestamp::from_ms(row.try_get("begun_at")?),
            used_at: Timestamp::from_ms(row.try_get("used_at")?),
        };
        Ok(Some((session, operator_key(&row)?)))
    }

    async fn console_session_used(&mut self, hash: &[u8; 32], now: Timestamp) -> Result<(), StoreError> {
        sqlx::query("UPDATE console_sessions SET used_at = $2 WHERE hash = $1 AND used_at < $2")
            .bind(hash.as_slice())
            .bind(now.as_ms())
            .execute(&mut *self.conn)
            .await?;
        Ok(())
    }

    async fn console_session_end(&mut self, hash: &[u8; 32]) -> Result<(), StoreError> {
        sqlx::query("DELETE FROM console_sessions WHERE hash = $1")
            .bind(hash.as_slice())
            .execute(&mut *self.conn)
            .await?;
        Ok(())
    }

    async fn console_sessions_purge(&mut self, before: Timestamp, limit: i64) -> Result<u64, StoreError> {
        let done = sqlx::query(
            "DELETE FROM console_sessions WHERE hash IN \
                 (SELECT hash FROM console_sessions WHERE used_at < $1 ORDER BY used_at LIMIT $2)",
        )
        .bind(before.as_ms())
        .bind(limit)
        .execute(&mut *self.conn)
        .await?;
        Ok(done.rows_affected())
    }
}
