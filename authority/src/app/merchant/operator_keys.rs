//! Operator keys: created, listed and revoked by the command line, which needs access to the database but no key
//! (contract 1.2, 6.1).
//!
//! An operator key is a row of no merchant, and no rule looks at two of them. So its writes take no turn: a leaked key
//! can be revoked whatever stalls the merchants' shards (contract 21.2).

use authority_domain::audit_log::AuditEntry;
use authority_domain::merchant::api_key::{ApiKey, KeyKind};
use authority_domain::{AuditId, Author, KeyId, OperatorScope, RequestId, Timestamp};
use authority_store::shards::Turns;
use authority_store::tx::{OperatorKeyRecord, Tx};
use authority_store::{Store, StoreError};
use rand::SeedableRng;
use rand::rngs::StdRng;
use serde::Serialize;

use crate::clock::Clock;
use crate::dice::Dice;

/// An operator key as the command line shows it, once. Has no `Debug`: it holds the key.
#[derive(Serialize)]
pub struct IssuedOperatorKey {
    /// The id of its record.
    pub id: KeyId,
    /// The key itself.
    pub key: String,
    /// What it may do.
    pub scopes: Vec<&'static str>,
}

/// An operator key as lists show it.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "object", rename = "operator_key")]
pub struct ShownOperatorKey {
    /// The id of its record.
    pub id: KeyId,
    /// What it is for.
    pub name: String,
    /// The beginning of the key.
    pub display: String,
    /// What it may do.
    pub scopes: Vec<&'static str>,
    /// `active` or `revoked`.
    pub status: &'static str,
    /// When it stopped working.
    pub revoked_at: Option<Timestamp>,
    /// When it was created.
    pub created_at: Timestamp,
}

impl From<OperatorKeyRecord> for ShownOperatorKey {
    fn from(record: OperatorKeyRecord) -> Self {
        Self {
            id: record.id,
            name: record.name,
            display: record.display,
            scopes: record.scopes.iter().map(|scope| scope.as_str()).collect(),
            status: if record.revoked_at.is_none() { "active" } else { "revoked" },
            revoked_at: record.revoked_at,
            created_at: record.created_at,
        }
    }
}

/// Creates an operator key, for the command line, which needs access to the database but no key.
pub async fn operator_key_create(
    store: &Store,
    clock: &dyn Clock,
    dice: &dyn Dice,
    name: String,
    scopes: Vec<OperatorScope>,
) -> Result<IssuedOperatorKey, StoreError> {
    let mut random = [0; 32];
    dice.fill(&mut random);
    let key = ApiKey::generate(KeyKind::Operator, &random);
    let mut dice = generator(dice);
    let now = Timestamp::from_ms(clock.now_ms());
    let record = OperatorKeyRecord {
        id: KeyId::generate(now, &mut dice),
        hash: key.hash(),
        name,
        display: key.display(),
        scopes,
        revoked_at: None,
        created_at: now,
    };
    let issued = IssuedOperatorKey {
        id: record.id.clone(),
        key: key.expose().to_owned(),
        scopes: record.scopes.iter().map(|scope| scope.as_str()).collect(),
    };
    let entry = noted("operator_keys.create", &record.id, None, now, &mut dice);
    store
        .write_with(Turns::NONE, move |tx: &mut Tx| {
            Box::pin(async move {
                tx.operator_key_insert(&record).await?;
                tx.audit_insert(&entry).await
            })
        })
        .await?;
    Ok(issued)
}

/// Every operator key, newest first.
pub async fn operator_keys_list(store: &Store) -> Result<Vec<ShownOperatorKey>, StoreError> {
    let keys = store
        .read_list(|tx: &mut Tx| Box::pin(async move { tx.operator_keys().await }))
        .await
        .map_err(|error: StoreError| error)?;
    Ok(keys.into_iter().map(ShownOperatorKey::from).collect())
}

/// Revokes an operator key, at once; a revoked one stays as it is. `None` when there is no such key.
pub async fn operator_key_revoke(
    store: &Store,
    clock: &dyn Clock,
    dice: &dyn Dice,
    id: KeyId,
    reason: String,
) -> Result<Option<ShownOperatorKey>, StoreError> {
    let now = Timestamp::from_ms(clock.now_ms());
    let entry = noted("operator_keys.revoke", &id, Some(reason), now, &mut generator(dice));
    store
        .write_with(Turns::NONE, move |tx: &mut Tx| {
            Box::pin(async move {
                if tx.operator_key_revoke(&id, now).await? {
                    tx.audit_insert(&entry).await?;
                }
                let keys = tx.operator_keys().await?;
                Ok(keys.into_iter().find(|key| key.id == id).map(ShownOperatorKey::from))
            })
        })
        .await
}

fn generator(dice: &dyn Dice) -> StdRng {
    let mut seed = [0; 32];
    dice.fill(&mut seed);
    StdRng::from_seed(seed)
}

fn noted(
    operation: &str,
    key: &KeyId,
    reason: Option<String>,
    now: Timestamp,
    dice: &mut StdRng,
) -> AuditEntry {
    AuditEntry {
        id: AuditId::generate(now, dice),
        created_by: Author::CommandLine,
        request_id: RequestId::generate(now, dice),
        operation: operation.to_owned(),
        merchant_id: None,
        livemode: None,
        resource_id: Some(key.to_string()),
        version_before: None,
        version_after: None,
        reason,
        created_at: now,
    }
}
