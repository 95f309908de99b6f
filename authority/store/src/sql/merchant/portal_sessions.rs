//! Links to the merchant portal and the sessions that they become. The database knows the hash of what a link or a
//! cookie holds, never the value itself.

use authority_domain::merchant::portal_session::PortalSession;
use authority_domain::{Merchant, PortalSessionId, Scope, Timestamp};

use crate::sql::transaction::tx::Written;
use crate::sql::{Result, Row, Tx, fields, query};

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

impl Tx {
    /// Adds a link.
    pub async fn portal_session_insert(&mut self, session: &PortalSession) -> Result<()> {
        let scopes: Vec<&str> = session.scopes.iter().map(|scope| scope.as_str()).collect();
        query(
            "INSERT INTO portal_sessions (id, hash, merchant_id, livemode, scopes, key_id, return_url, created_at, \
             opened_at, expires_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
        )
        .binds((session.id.as_str(), session.hash.as_slice()))
        .binds((session.tenant.merchant_id.as_str(), session.tenant.livemode))
        .binds((scopes.join(" "), session.key_id.as_str(), session.return_url.as_deref()))
        .binds((session.created_at.as_ms(), session.opened_at.map(Timestamp::as_ms)))
        .bind(session.expires_at.as_ms())
        .write(&mut self.conn)
        .await?;
        self.note_written(Written::of(&session.tenant, session.id.as_str(), None, None));
        Ok(())
    }

    /// The link or session with this hash.
    pub async fn portal_session(&mut self, hash: &[u8; 32]) -> Result<Option<FoundPortalSession>> {
        query(
            "SELECT s.id, s.merchant_id, s.livemode, s.scopes, s.key_id, s.return_url, s.created_at, s.opened_at, \
                 s.expires_at, k.revoked_at, m.body AS merchant FROM portal_sessions s \
             JOIN operator_keys k ON k.id = s.key_id JOIN merchants m ON m.id = s.merchant_id WHERE s.hash = $1",
        )
        .bind(hash.as_slice())
        .read_optional_as(&mut self.conn, |row| {
            Ok(FoundPortalSession {
                session: session(row, *hash)?,
                merchant: row.record("merchant")?,
                key_revoked_at: row.read("revoked_at")?,
            })
        })
        .await
    }

    /// Makes a session of a link that nobody has opened: from now on `cookie` finds it, and `link` nothing. False when
    /// there is no such link.
    pub async fn portal_session_open(
        &mut self,
        link: &[u8; 32],
        cookie: &[u8; 32],
        now: Timestamp,
    ) -> Result<bool> {
        query("UPDATE portal_sessions SET hash = $2, opened_at = $3 WHERE hash = $1 AND opened_at IS NULL")
            .binds((link.as_slice(), cookie.as_slice(), now.as_ms()))
            .touches_any(&mut self.conn)
            .await
    }

    /// Ends a session.
    pub async fn portal_session_end(&mut self, id: &PortalSessionId) -> Result<()> {
        query("DELETE FROM portal_sessions WHERE id = $1").bind(id.as_str()).run(&mut self.conn).await
    }

    /// Removes at most `limit` links and sessions whose time ended before `before`; how many.
    pub async fn portal_sessions_purge(&mut self, before: Timestamp, limit: i64) -> Result<u64> {
        Ok(query(
            "DELETE FROM portal_sessions WHERE expires_at + 0 < $1 AND id IN \
                 (SELECT id FROM portal_sessions WHERE expires_at < $1 ORDER BY expires_at LIMIT $2)",
        )
        .binds((before.as_ms(), limit))
        .write(&mut self.conn)
        .await?)
    }
}

fn session(row: &Row, hash: [u8; 32]) -> Result<PortalSession> {
    let scopes: String = row.get("scopes")?;
    Ok(fields!(row => PortalSession {
        id, key_id, return_url, created_at, opened_at, expires_at;
        hash,
        tenant: row.tenant()?,
        scopes: scopes.split(' ').filter_map(Scope::parse).collect(),
    }))
}
