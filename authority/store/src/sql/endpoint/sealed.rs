//! Everything in the database that is sealed under the key-encryption key, page by page: for changing that key
//! (`authority secrets rewrap`) and for the doctor. That is signing secrets, endpoints' request headers and client
//! certificates, and the answers that showed a secret.
//!
//! A value is replaced only while it is still the one that was read, so that no newer value is overwritten.
//!
//! Whether a process has the keys that it needs is seen by samples, which are under a key that it does not have if
//! anything is: after an interrupted change of the key, most may be under the new one.

use authority_domain::EndpointId;

use crate::hand_off::SealedSecret;
use crate::sql::endpoint::rows::sealed_secret;
use crate::sql::transaction::keys::shard_of_scope;
use crate::sql::{Across, Query, Result, Row, ShardSet, Tx, query};

/// What is sealed of an endpoint beside its signing secrets, one value each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SealedOption {
    /// The headers that go with its deliveries.
    RequestHeaders,
    /// The certificates that its deliveries show, with their private key.
    ClientCertificate,
}

impl SealedOption {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::RequestHeaders, Self::ClientCertificate];
}

/// A position in the list of signing secrets.
pub type SecretPosition = (EndpointId, i64);

/// A position in the list of stored answers: merchant (or the operator's word for it), mode, key.
pub type AnswerPosition = (String, bool, String);

/// Adds the order and the limit that find a value which begins with none of these, if there is one.
fn push_unknown_first<'q>(query: &mut Query<'q>, column: &str, known: &'q [[u8; 2]]) {
    query.push(" ORDER BY CASE WHEN substr(").push(column).push(", 1, 2)");
    query.push_among(known.iter().map(<[u8; 2]>::as_slice)).push(" THEN 1 ELSE 0 END LIMIT 1");
}

/// The column of `webhook_endpoints` that holds it.
pub(crate) const fn column(option: SealedOption) -> &'static str {
    match option {
        SealedOption::RequestHeaders => "headers_sealed",
        SealedOption::ClientCertificate => "client_certificate_sealed",
    }
}

impl Tx {
    /// A signing secret that begins with none of these (the form, and the id of a key); any, if there is no such one.
    /// Looks at all of them.
    pub async fn secret_sample(&mut self, known: &[[u8; 2]]) -> Result<Option<(EndpointId, SealedSecret)>> {
        let all = "SELECT endpoint_id, version, sealed, expires_at FROM endpoint_secrets";
        let mut query = Query::across(Across::SEALED, all);
        push_unknown_first(&mut query, "sealed", known);
        query
            .read_optional_as(&mut self.conn, |row| Ok((row.read("endpoint_id")?, sealed_secret(row)?)))
            .await
    }

    /// The same of an option of endpoints.
    pub async fn option_sample(
        &mut self,
        option: SealedOption,
        known: &[[u8; 2]],
    ) -> Result<Option<(EndpointId, Vec<u8>)>> {
        let column = column(option);
        let mut query = Query::across(Across::SEALED, "SELECT id, ");
        query.push(column).push(" FROM webhook_endpoints WHERE ").push(column).push(" IS NOT NULL");
        push_unknown_first(&mut query, column, known);
        query.read_optional_as(&mut self.conn, |row| Ok((row.read("id")?, row.get(column)?))).await
    }

    /// Up to `limit` signing secrets after `after`, by endpoint and version.
    pub async fn sealed_secrets(
        &mut self,
        after: Option<&SecretPosition>,
        limit: i64,
    ) -> Result<Vec<(EndpointId, SealedSecret)>> {
        let mut query = Query::across(
            Across::SEALED,
            "SELECT endpoint_id, version, sealed, expires_at FROM endpoint_secrets WHERE ",
        );
        query.push_shards("", ShardSet::ALL);
        if let Some((endpoint, version)) = after {
            query.push(" AND (endpoint_id, version) > (").push_bind(endpoint.as_str());
            query.push(", ").push_bind(*version).push(")");
        }
        query.push(" ORDER BY endpoint_id, version LIMIT ").push_bind(limit);
        query.read_as(&mut self.conn, |row| Ok((row.read("endpoint_id")?, sealed_secret(row)?))).await
    }

    /// Replaces a signing secret's ciphertext; false when it is no longer `old`.
    pub async fn sealed_secret_replace(
        &mut self,
        (endpoint, version): &SecretPosition,
        old: &[u8],
        new: &[u8],
    ) -> Result<bool> {
        let mut query = query(
            "UPDATE endpoint_secrets SET sealed = $4 WHERE endpoint_id = $1 AND version = $2 AND sealed = $3 AND ",
        );
        query.push_shards("", self.conn.shards());
        query.binds((endpoint.as_str(), *version, old, new)).touches_any(&mut self.conn).await
    }

    /// Up to `limit` values of this option after `after`, by endpoint.
    pub async fn sealed_options(
        &mut self,
        option: SealedOption,
        after: Option<&EndpointId>,
        limit: i64,
    ) -> Result<Vec<(EndpointId, Vec<u8>)>> {
        let column = column(option);
        let mut query = Query::across(Across::SEALED, "SELECT id, ");
        query.push(column).push(" FROM webhook_endpoints WHERE ").push(column).push(" IS NOT NULL");
        query.push_some(" AND id > ", after.map(|endpoint| endpoint.as_str()));
        query.push(" ORDER BY id LIMIT ").push_bind(limit);
        query.read_as(&mut self.conn, |row| Ok((row.read("id")?, row.get(column)?))).await
    }

    /// Replaces the ciphertext of an endpoint's option; false when it is no longer `old`.
    pub async fn sealed_option_replace(
        &mut self,
        option: SealedOption,
        endpoint: &EndpointId,
        old: &[u8],
        new: &[u8],
    ) -> Result<bool> {
        let column = column(option);
        let mut query = Query::new("UPDATE webhook_endpoints SET ");
        query.push(column).push(" = ").push_bind(new);
        query
            .push(" WHERE ")
            .push_shards("", self.conn.shards())
            .push(" AND id = ")
            .push_bind(endpoint.as_str());
        query.push(" AND ").push(column).push(" = ").push_bind(old);
        query.touches_any(&mut self.conn).await
    }

    /// Up to `limit` stored answers with a sealed body after `after`, by position.
    pub async fn sealed_answers(
        &mut self,
        after: Option<&AnswerPosition>,
        limit: i64,
    ) -> Result<Vec<(AnswerPosition, String)>> {
        // Quotes inside a body are escaped, so this finds only the member itself.
        let mut query = Query::across(
            Across::SEALED,
            "SELECT merchant_id, livemode, key, answer FROM idempotency WHERE answer LIKE '%\"sealed\":\"%'",
        );
        if let Some((merchant, livemode, key)) = after {
            query.push(" AND (shard, merchant_id, livemode, key) > (").push_bind(shard_of_scope(merchant));
            query
                .push(", ")
                .push_bind(merchant.as_str())
                .push(", ")
                .push_bind(*livemode)
                .push(", ")
                .push_bind(key.as_str())
                .push(")");
        }
        query.push(" ORDER BY shard, merchant_id, livemode, key LIMIT ").push_bind(limit);
        let placed = |row: &Row| {
            Ok(((row.get("merchant_id")?, row.get("livemode")?, row.get("key")?), row.get("answer")?))
        };
        query.read_as(&mut self.conn, placed).await
    }

    /// The answers with a sealed body among the newest `among` that are stored, with their keys. Of those with an open
    /// body there are far more, and no index tells them apart: to look at all takes a time of its own.
    pub async fn newest_sealed_answers(&mut self, among: i64) -> Result<Vec<(String, String)>> {
        let newest =
            "SELECT key, answer FROM (SELECT key, answer FROM idempotency ORDER BY expires_at DESC LIMIT ";
        let mut query = Query::across(Across::SEALED, newest);
        query.push_bind(among).push(") newest WHERE answer LIKE '%\"sealed\":\"%'");
        query.read_as(&mut self.conn, |row| Ok((row.get("key")?, row.get("answer")?))).await
    }

    /// Replaces a stored answer; false when it is no longer `old`.
    pub async fn sealed_answer_replace(
        &mut self,
        (merchant, livemode, key): &AnswerPosition,
        old: &str,
        new: &str,
    ) -> Result<bool> {
        query(
            "UPDATE idempotency SET answer = $6 \
             WHERE shard = $1 AND merchant_id = $2 AND livemode = $3 AND key = $4 AND answer = $5",
        )
        .binds((shard_of_scope(merchant), merchant.as_str(), *livemode, key.as_str(), old, new))
        .touches_any(&mut self.conn)
        .await
    }
}
