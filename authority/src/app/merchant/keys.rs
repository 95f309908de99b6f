//! API keys: issued, rotated, revoked (contract 1.2, 2.11, 6.1, 6.2).
//!
//! A key is shown once, in the answer that issues it; the database holds its hash.

use authority_domain::body::read_reason;
use authority_domain::merchant::api_key::{ApiKey, KeyKind};
use authority_domain::merchant::key_record::{ApiKeyRecord, KeyStatus};
use authority_domain::merchant::{ApiKeyRequest, ApiKeyRotation};
use authority_domain::{Author, KeyId, ListKind, MerchantId, Named, Result, Scope, Tenant, Timestamp};
use rand_core::Rng;
use serde::Serialize;

use crate::app::lists::written;
use crate::app::{Answer, App, Caller, List, ListRequest, Mutation, Owner, Work};

/// A key as the operator sees it (contract 2.11). Has no `Debug`: it may hold the key.
#[derive(Serialize)]
#[serde(tag = "object", rename = "api_key")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "ApiKey"))]
pub(in crate::app) struct ShownKey<'a> {
    /// Identifies the record; this is not the key itself.
    id: &'a KeyId,
    /// The merchant it belongs to.
    merchant_id: &'a MerchantId,
    /// What it is for.
    name: &'a str,
    /// The beginning of the key, to recognise it by.
    display: &'a str,
    /// What it may do.
    scopes: Vec<Scope>,
    /// Whether it works.
    status: KeyStatus,
    /// When it expires; null when it does not.
    expires_at: Option<Timestamp>,
    /// When it was revoked.
    revoked_at: Option<Timestamp>,
    /// When it was last used, to the minute.
    last_used_at: Option<Timestamp>,
    /// The key that replaces it.
    replaced_by: Option<&'a KeyId>,
    /// The operator key that created it, or `cli`.
    created_by: &'a str,
    /// Whether it is for live data.
    livemode: bool,
    /// When it was created.
    created_at: Timestamp,
    /// The key itself, only in the answer that creates it.
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<&'a str>,
}

impl App {
    /// `POST /merchants/:m/api-keys`.
    pub async fn api_key_issue(&self, mutation: Mutation, merchant: Named<MerchantId>) -> Result<Answer> {
        let by = mutation.author.as_ref().map_or_else(String::new, Author::to_string);
        let request = ApiKeyRequest::read(&mutation.body, self.now());
        let tenant = merchant.map(|merchant_id| Tenant { merchant_id, livemode: false });
        self.for_tenant(mutation, tenant, None, async move |work, Owner { merchant, .. }| {
            let request = request?;
            merchant.check_not_closed()?;
            let kind = if request.livemode { KeyKind::Live } else { KeyKind::Test };
            let key = ApiKey::generate(kind, &random(work));
            let record = ApiKeyRecord {
                id: KeyId::generate(work.now, &mut work.dice),
                merchant_id: merchant.id,
                livemode: request.livemode,
                hash: key.hash(),
                name: request.name,
                display: key.display(),
                scopes: request.scopes,
                expires_at: request.expires_at,
                revoked_at: None,
                last_used_at: None,
                replaced_by: None,
                created_by: by,
                created_at: work.now,
            };
            work.tx.api_key_insert(&record).await?;
            issued(&record, &key, work.now)
        })
        .await
    }

    /// `POST /api-keys/:id/rotate`: creates a new key; the old one works until the end of the overlap.
    pub async fn api_key_rotate(&self, mutation: Mutation, id: Named<KeyId>) -> Result<Answer> {
        let by = mutation.author.as_ref().map_or_else(String::new, Author::to_string);
        let rotation = ApiKeyRotation::read(&mutation.body, self.now());
        let owner = self.owner_of_key(id.clone()).await?;
        let answered = self
            .for_turn(mutation, owner, async move |work| {
                let before = find_key(work, id).await?;
                let rotation = rotation?;
                let merchant = work.tx.merchant_get(&before.merchant_id).await?;
                merchant.ok_or_else(MerchantId::missing)?.check_not_closed()?;
                let kind = if before.livemode { KeyKind::Live } else { KeyKind::Test };
                let key = ApiKey::generate(kind, &random(work));
                let id = KeyId::generate(work.now, &mut work.dice);
                let (old, new) = before.replace(id, &key, rotation, by, work.now)?;
                work.tx.api_key_insert(&new).await?;
                work.tx.api_key_end(&old).await?;
                Ok(issued(&new, &key, work.now)?.about(old.id.as_str()))
            })
            .await;
        self.forget_keys();
        answered
    }

    /// `POST /api-keys/:id/revoke`: the key stops working at once.
    pub async fn api_key_revoke(&self, mutation: Mutation, id: Named<KeyId>) -> Result<Answer> {
        let reason = read_reason(&mutation.body);
        let owner = self.owner_of_key(id.clone()).await?;
        let answered = self
            .for_turn(mutation, owner, async move |work| {
                let before = find_key(work, id).await?;
                work.reason = Some(reason?);
                let after = before.clone().revoke(work.now);
                if after != before {
                    work.tx.api_key_end(&after).await?;
                }
                Ok(Answer::record(200, &shown(&after, None, work.now))?.about(after.id.as_str()))
            })
            .await;
        self.forget_keys();
        answered
    }

    /// Whose key this is: of which merchant, in which mode.
    async fn owner_of_key(&self, id: Named<KeyId>) -> Result<Named<Tenant>> {
        self.named(id, KeyId::missing, async |tx, id| {
            let key = tx.api_key_get(&id).await?;
            Ok(key.map(|key| Tenant { merchant_id: key.merchant_id, livemode: key.livemode }))
        })
        .await
    }

    /// `GET /merchants/:m/api-keys`: newest first.
    pub async fn api_keys_list(&self, request: &ListRequest, merchant: Named<MerchantId>) -> Result<List> {
        let (merchant, show) = (merchant?, |key| self.listed(key));
        self.operator_list(ListKind::OperatorApiKeys, KeyId::PREFIX, request, show, async move |tx, of| {
            tx.merchant_get(&merchant).await?.ok_or_else(MerchantId::missing)?;
            Ok(tx.api_keys_page(&merchant, of.before.as_deref(), of.rows).await?)
        })
        .await
    }

    /// The keys of the caller's merchant and mode, newest first: for the portal, which shows some of each record.
    pub async fn api_keys_own(&self, caller: &Caller, request: &ListRequest) -> Result<List> {
        let tenant = caller.tenant.clone();
        // What makes a cursor by ids the tenant's own.
        let filter = format!("{} {}", tenant.merchant_id, tenant.livemode);
        let (request, show) = (ListRequest { filter, ..request.clone() }, |key| self.listed(key));
        self.operator_list(ListKind::ApiKeys, KeyId::PREFIX, &request, show, async move |tx, of| {
            Ok(tx.api_keys_page_of(&tenant, of.before.as_deref(), of.rows).await?)
        })
        .await
    }

    /// A key on a list, with its id.
    fn listed(&self, key: ApiKeyRecord) -> Result<(String, String)> {
        Ok((key.id.to_string(), written(shown(&key, None, self.now()))?))
    }
}

/// The answer that shows a new key, only once.
fn issued(record: &ApiKeyRecord, key: &ApiKey, now: Timestamp) -> Result<Answer> {
    let shown = shown(record, Some(key), now);
    Ok(Answer::record(201, &shown)?.about(record.id.as_str()).confidential())
}

fn shown<'a>(record: &'a ApiKeyRecord, key: Option<&'a ApiKey>, now: Timestamp) -> ShownKey<'a> {
    ShownKey {
        id: &record.id,
        merchant_id: &record.merchant_id,
        name: &record.name,
        display: &record.display,
        scopes: record.scopes.clone(),
        status: record.status(now),
        expires_at: record.expires_at,
        revoked_at: record.revoked_at,
        last_used_at: record.last_used_at,
        replaced_by: record.replaced_by.as_ref(),
        created_by: &record.created_by,
        livemode: record.livemode,
        created_at: record.created_at,
        key: key.map(ApiKey::expose),
    }
}

/// The key in an operator's path.
async fn find_key(work: &mut Work<'_>, id: Named<KeyId>) -> Result<ApiKeyRecord> {
    work.tx.api_key_get(&id?).await?.ok_or_else(KeyId::missing)
}

/// 32 bytes for a key or a secret, from a generator that was seeded by the operating system for this request.
pub(in crate::app) fn random(work: &mut Work<'_>) -> [u8; 32] {
    let mut random = [0; 32];
    work.dice.fill_bytes(&mut random);
    random
}
