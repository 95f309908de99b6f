//! Authentication: from a key to a merchant and mode, or to an operator (contract 5.3, 6.1).
//!
//! The checksum and the kind of the key are checked before the database is queried. Unknown, revoked and foreign
//! keys get the same answer. The result for a valid key is cached for a short time (`key_cache`); changes that
//! this instance makes to keys and merchants take effect at once (`forget_keys`).

mod key_cache;
pub mod key_use;

use authority_domain::merchant::MerchantStatus;
use authority_domain::merchant::api_key::{ApiKey, KeyKind};
use authority_domain::merchant::portal_session::PortalSession;
use authority_domain::{
    ErrorCode, KeyId, Merchant, OperatorScope, Refusal, Result, Scope, Tenant, Timestamp,
};
use authority_store::tx::OperatorKeyRecord;

use super::App;
use crate::app::access::key_cache::KeyCache;

/// An authenticated merchant backend.
#[derive(Clone, Debug)]
pub struct Caller {
    /// The merchant and mode whose data it may see.
    pub tenant: Tenant,
    /// The merchant as it is now.
    pub merchant: Merchant,
    /// The key that was used; for the portal, the id of its session stands here.
    pub key_id: KeyId,
    scopes: Vec<Scope>,
}

/// An authenticated operator.
#[derive(Clone, Debug)]
pub struct Operator {
    /// The key that was used.
    pub key_id: KeyId,
    scopes: Vec<OperatorScope>,
}

/// The cached keys, by hash.
#[derive(Default)]
pub struct KnownKeys {
    /// Merchants' keys, with their expiry.
    merchants: KeyCache<[u8; 32], (Option<Timestamp>, Caller)>,
    operators: KeyCache<[u8; 32], Operator>,
}

impl App {
    /// Clears the cache because this instance may have changed a key or a merchant. Call it after the commit and
    /// before the answer.
    pub(super) fn forget_keys(&self) {
        self.known_keys.merchants.forget();
        self.known_keys.operators.forget();
    }

    /// The merchant and mode behind a key.
    ///
    /// # Errors
    /// `invalid_api_key`, `expired_api_key`.
    pub async fn merchant_of(&self, key: &ApiKey) -> Result<Caller> {
        if key.kind() == KeyKind::Operator {
            return Err(unknown_key());
        }
        let hash = key.hash();
        let (expires_at, caller) = match self.known_keys.merchants.get(&hash, self.clock.monotonic()) {
            Ok(known) => known,
            Err(asked) => {
                let known = self.merchant_key(hash).await?;
                self.known_keys.merchants.keep(asked, hash, known.clone());
                known
            }
        };
        let now = self.now();
        if expires_at.is_some_and(|at| at <= now) {
            return Err(Refusal::new(ErrorCode::ExpiredApiKey, "The API key has expired."));
        }
        self.key_use.note(&caller.key_id, now);
        Ok(caller)
    }

    /// Looks up a merchant's key that is not revoked.
    async fn merchant_key(&self, hash: [u8; 32]) -> Result<(Option<Timestamp>, Caller)> {
        let found = self.read(async move |tx| tx.api_key_by_hash(&hash).await).await?;
        let Some((record, merchant)) = found else { return Err(unknown_key()) };
        if record.revoked_at.is_some() {
            return Err(unknown_key());
        }
        let tenant = Tenant { merchant_id: record.merchant_id, livemode: record.livemode };
        let caller = Caller { tenant, merchant, key_id: record.id, scopes: record.scopes };
        Ok((record.expires_at, caller))
    }

    /// The operator behind a key.
    ///
    /// # Errors
    /// `invalid_api_key`.
    pub async fn operator_of(&self, key: &ApiKey) -> Result<Operator> {
        if key.kind() != KeyKind::Operator {
            return Err(unknown_key());
        }
        let hash = key.hash();
        match self.known_keys.operators.get(&hash, self.clock.monotonic()) {
            Ok(known) => Ok(known),
            Err(asked) => {
                let known = self.operator_key(hash).await?;
                self.known_keys.operators.keep(asked, hash, known.clone());
                Ok(known)
            }
        }
    }

    /// Looks up an operator's key that is not revoked.
    pub(super) async fn operator_key(&self, hash: [u8; 32]) -> Result<Operator> {
        let found = self.read(async move |tx| tx.operator_key_by_hash(&hash).await).await?;
        match found {
            Some(record) => Operator::of_record(record).ok_or_else(unknown_key),
            None => Err(unknown_key()),
        }
    }
}

impl Caller {
    /// Whoever has a session of the portal: the same as the holder of a key with the session's scopes.
    pub(super) fn of_portal(session: &PortalSession, merchant: Merchant) -> Self {
        Self {
            tenant: session.tenant.clone(),
            merchant,
            key_id: KeyId::from_store(session.id.to_string()),
            scopes: session.scopes.clone(),
        }
    }

    /// Whether the key has any of these scopes.
    #[must_use]
    pub fn may(&self, any_of: &[Scope]) -> bool {
        any_of.iter().any(|scope| self.scopes.contains(scope))
    }

    /// Refuses every request of a closed merchant and every write of a suspended one.
    ///
    /// # Errors
    /// `merchant_closed`, `merchant_suspended`.
    pub fn check_merchant(&self, writes: bool) -> Result<()> {
        match self.merchant.status {
            MerchantStatus::Closed => Err(Refusal::new(ErrorCode::MerchantClosed, "The merchant is closed.")),
            MerchantStatus::Suspended if writes => Err(Refusal::new(
                ErrorCode::MerchantSuspended,
                "The merchant is suspended and can only read.",
            )),
            MerchantStatus::Active | MerchantStatus::Suspended => Ok(()),
        }
    }

    /// Refuses a live key: the sandbox creates only test data (contract 6.3).
    ///
    /// # Errors
    /// `test_mode_only`.
    pub fn check_test_mode(&self) -> Result<()> {
        if self.tenant.livemode {
            return Err(Refusal::new(ErrorCode::TestModeOnly, "The sandbox takes test keys only."));
        }
        Ok(())
    }

    /// Refuses a key that has none of `any_of`.
    ///
    /// # Errors
    /// `insufficient_scope`.
    pub fn check_scope(&self, any_of: &[Scope]) -> Result<()> {
        if self.may(any_of) {
            return Ok(());
        }
        Err(missing_scope(any_of.iter().map(|scope| scope.as_str()).collect()))
    }
}

impl Operator {
    /// The holder of a key; `None` when the key was revoked.
    pub(in crate::app) fn of_record(record: OperatorKeyRecord) -> Option<Self> {
        record.revoked_at.is_none().then_some(Self { key_id: record.id, scopes: record.scopes })
    }

    /// Whether the key has any of these scopes.
    #[must_use]
    pub fn may(&self, any_of: &[OperatorScope]) -> bool {
        any_of.iter().any(|scope| self.scopes.contains(scope))
    }

    /// Refuses a key that has none of `any_of`.
    ///
    /// # Errors
    /// `insufficient_scope`.
    pub fn check_scope(&self, any_of: &[OperatorScope]) -> Result<()> {
        if self.may(any_of) {
            return Ok(());
        }
        Err(missing_scope(any_of.iter().map(|scope| scope.as_str()).collect()))
    }
}

pub(super) fn unknown_key() -> Refusal {
    Refusal::new(ErrorCode::InvalidApiKey, "The API key is not valid.")
}

fn missing_scope(required: Vec<&'static str>) -> Refusal {
    Refusal::new(
        ErrorCode::InsufficientScope,
        format!("The API key lacks the scope that this operation needs: {}.", required.join(" or ")),
    )
    .with("required_scopes", required)
}
