//! The stored part of a request: the answer under its idempotency key.

use authority_domain::{RequestId, Timestamp};

use crate::sql::transaction::keys::{KeyScope, answer_key, scope_columns};
use crate::sql::{
    Across, Form, Query, Result, StoreError, Table, TableOrder, Together, Touches, Tx, columns, query, row,
    upsert,
};

/// The answer that a repeated request gets (contract 2.15).
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct IdempotencyRecord {
    pub scope: KeyScope,
    pub key: String,
    pub fingerprint: [u8; 32],
    pub operation: &'static str,
    /// The answer as JSON text; its shape belongs to the application.
    pub answer: String,
    pub request_id: RequestId,
    pub created_at: Timestamp,
    pub expires_at: Timestamp,
}

/// The answer to a request that has a key. An expired one is replaced.
static IDEMPOTENCY: Table = Table {
    order: TableOrder::Idempotency,
    touches: Touches::Each("idempotency record"),
    columns: columns!("idempotency":
        shard Shard, merchant_id Text, livemode Bool, key Text, fingerprint Bytes, operation Text, answer Text,
        request_id Text, created_at Int, expires_at Int),
    form: Form::Insert,
    rest: upsert!("shard, merchant_id, livemode, key": fingerprint, operation, answer, request_id, created_at,
        expires_at;
        "WHERE idempotency.expires_at <= excluded.created_at"),
    together: Together::Apart,
};

fn fingerprint(stored: Vec<u8>) -> Result<[u8; 32]> {
    let broken = |_| StoreError::Broken("idempotency.fingerprint is not 32 bytes".to_owned());
    stored.try_into().map_err(broken)
}

impl Tx {
    /// Returns fingerprint and answer under a key that has not expired.
    pub async fn idempotency_get(
        &mut self,
        scope: &KeyScope,
        key: &str,
        now: Timestamp,
    ) -> Result<Option<([u8; 32], String)>> {
        let (shard, merchant_id, livemode) = scope_columns(scope);
        let key_of_row = answer_key(&merchant_id, livemode, key);
        if let Some(known) = self.conn.cache.keys.get(&key_of_row) {
            let current = known.as_ref().filter(|found| found.expires_at > now.as_ms());
            return current
                .map(|found| Ok((fingerprint(found.fingerprint.clone())?, found.answer.clone())))
                .transpose();
        }
        query(
            "SELECT fingerprint, answer FROM idempotency \
             WHERE shard = $1 AND merchant_id = $2 AND livemode = $3 AND key = $4 AND expires_at > $5",
        )
        .binds((shard, merchant_id, livemode, key, now.as_ms()))
        .about(&[key_of_row])
        .read_optional_as(&mut self.conn, |row| {
            Ok((fingerprint(row.get("fingerprint")?)?, row.get("answer")?))
        })
        .await
    }

    /// Stores an answer; replaces one that has expired.
    pub async fn idempotency_insert(&mut self, record: &IdempotencyRecord) -> Result<()> {
        let (shard, merchant_id, livemode) = scope_columns(&record.scope);
        self.conn.buffer(
            &IDEMPOTENCY,
            [answer_key(&merchant_id, livemode, &record.key)],
            row!(
                shard, merchant_id.as_ref(), livemode, record.key.as_str(), record.fingerprint.as_slice();
                record.operation, record.answer.as_str(), record.request_id.as_str();
                record.created_at.as_ms(), record.expires_at.as_ms()),
        );
        Ok(())
    }

    /// Keeps the idempotency key and its request's fingerprint for ever with the refund or shipment of this id, which
    /// this transaction makes after the call (contract 4.3).
    pub fn idempotency_key_keep(&mut self, record_id: &str, key: &str, fingerprint: &[u8; 32]) {
        self.job.kept_key = Some((record_id.to_owned(), (key.to_owned(), *fingerprint)));
    }

    /// Removes up to `limit` answers that have expired; returns how many. It needs no turn: an answer that a request
    /// replaces meanwhile is looked at again, and stays.
    pub async fn idempotency_purge(&mut self, now: Timestamp, limit: i64) -> Result<u64> {
        Ok(Query::across(
            Across::RETENTION,
            // `+ 0`: the rows are found by the list, which is short.
            "DELETE FROM idempotency WHERE expires_at + 0 <= $1 AND (shard, merchant_id, livemode, key) IN ( \
                 SELECT shard, merchant_id, livemode, key FROM idempotency WHERE expires_at <= $1 \
                 ORDER BY expires_at LIMIT $2)",
        )
        .binds((now.as_ms(), limit))
        .write(&mut self.conn)
        .await?)
    }
}
