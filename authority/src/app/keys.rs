//! Issuing keys (contract 1.2, 6.1, 6.2).
//!
//! A key is shown once, in the answer that made it; the database holds its hash.

use authority_domain::api_key::{ApiKey, KeyKind};
use authority_domain::audit::Author;
use authority_domain::id::{KeyId, MerchantId};
use authority_domain::refusal::Refusal;
use authority_domain::requests::ApiKeyRequest;
use authority_domain::scope::OperatorScope;
use authority_domain::tenant::Tenant;
use authority_domain::time::Timestamp;
use authority_store::ports::{ApiKeyRecord, OperatorKeyRecord, Tx};
use authority_store::{Store, StoreError};
use rand::SeedableRng;
use rand::rngs::StdRng;
use rand_core::Rng;
use serde::Serialize;
use serde_json::Value;

use super::mutation::{Work, operator_scope};
use super::{Answer, App, Mutation};
use crate::clock::Clock;
use crate::dice::Dice;

#[derive(Serialize)]
#[serde(tag = "object", rename = "api_key")]
struct IssuedKey<'a> {
    id: &'a KeyId,
    name: &'a str,
    display: &'a str,
    scopes: Vec<&'static str>,
    status: &'static str,
    expires_at: Option<Timestamp>,
    revoked_at: Option<Timestamp>,
    last_used_at: Option<Timestamp>,
    replaced_by: Option<&'a KeyId>,
    created_by: &'a str,
    livemode: bool,
    created_at: Timestamp,
    key: &'a str,
}

/// An operator key as the command line shows it, once. Has no `Debug`: it holds the key.
#[derive(Serialize)]
pub struct IssuedOperatorKey {
    /// Its record.
    pub id: KeyId,
    /// The key itself.
    pub key: String,
    /// What it may do.
    pub scopes: Vec<&'static str>,
}

impl App {
    /// `POST /merchants/:m/api-keys`.
    ///
    /// # Errors
    /// `not_found`; 422 for wrong members.
    pub async fn api_key_issue(
        &self,
        mutation: Mutation,
        merchant: Option<MerchantId>,
        body: Value,
    ) -> Result<Answer, Refusal> {
        let by = mutation.author.as_ref().map_or_else(String::new, Author::to_string);
        mutation
            .run(
                self,
                operator_scope(merchant.clone().map(|merchant_id| Tenant { merchant_id, livemode: false })),
                move |work| {
                    Box::pin(async move {
                        let merchant = find_merchant(work, merchant).await?;
                        let request = ApiKeyRequest::read(&body, work.now)?;
                        let kind = if request.livemode { KeyKind::Live } else { KeyKind::Test };
                        let key = ApiKey::generate(kind, &random(work));
                        let record = ApiKeyRecord {
                            id: KeyId::generate(work.now, &mut work.dice),
                            merchant_id: merchant,
                            livemode: request.livemode,
                            hash: key.hash(),
                            name: request.name,
                            display: key.display(),
                            scopes: request.scopes,
                            expires_at: request.expires_at,
                            revoked_at: None,
                            created_by: by,
                            created_at: work.now,
                        };
                        work.tx.api_key_insert(&record).await?;
                        Ok(Answer::record(201, &shown(&record, &key))?
                            .about(record.id.as_str())
                            .confidential())
                    })
                },
            )
            .await
    }
}

/// Makes an operator key: by the command line, which needs access to the database and no key.
///
/// # Errors
/// Only what the store reports.
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
    let mut seed = [0; 32];
    dice.fill(&mut seed);
    let now = Timestamp::from_ms(clock.now_ms());
    let record = OperatorKeyRecord {
        id: KeyId::generate(now, &mut StdRng::from_seed(seed)),
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
    store
        .write(move |tx: &mut dyn Tx| Box::pin(async move { tx.operator_key_insert(&record).await }))
        .await?;
    Ok(issued)
}

fn shown<'a>(record: &'a ApiKeyRecord, key: &'a ApiKey) -> IssuedKey<'a> {
    IssuedKey {
        id: &record.id,
        name: &record.name,
        display: &record.display,
        scopes: record.scopes.iter().map(|scope| scope.as_str()).collect(),
        status: "active",
        expires_at: record.expires_at,
        revoked_at: None,
        last_used_at: None,
        replaced_by: None,
        created_by: &record.created_by,
        livemode: record.livemode,
        created_at: record.created_at,
        key: key.expose(),
    }
}

/// The merchant that an operator's path names; `None` is a malformed id.
pub(super) async fn find_merchant(
    work: &mut Work<'_>,
    id: Option<MerchantId>,
) -> Result<MerchantId, Refusal> {
    match id {
        Some(id) if work.tx.merchant_get(&id).await?.is_some() => Ok(id),
        _ => Err(Refusal::not_found("merchant")),
    }
}

/// 32 bytes for a key or a secret, from a generator that the operating system seeded for this request.
pub(super) fn random(work: &mut Work<'_>) -> [u8; 32] {
    let mut random = [0; 32];
    work.dice.fill_bytes(&mut random);
    random
}
