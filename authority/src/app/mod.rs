//! Use cases: each function is one use case, and each use case is one transaction (contract 12 T1).
//!
//! The HTTP layer has parsed the request and authenticated the caller. A function here loads records, calls a
//! transition of the domain, commits rows, events and deliveries together, and returns the [`Answer`]. It names no
//! HTTP type: the same functions serve the merchant API, the operator API and the command line.
//!
//! Every use case may refuse with what the store reports, a list with `invalid_cursor`, and one that names a record
//! with `not_found`. The codes of a request stand once, at the operation beside its handler, and a debug build stops at
//! any other; here `# Errors` stands only where it says when a code is given.

pub mod access;
pub mod alerts;
pub(crate) mod amount;
mod answer;
pub mod audit_log;
pub mod checkout;
pub mod console;
pub mod delivery;
pub mod due;
pub mod endpoint;
pub mod event;
pub mod figures;
pub mod invariants;
mod job;
pub mod lists;
pub mod live;
pub mod merchant;
mod mutation;
pub mod order;
pub mod partner;
pub mod payment;
pub mod portal;
pub mod refund;
mod report_result;
pub mod sandbox;
pub mod sealed;
mod session_secret;
pub mod shipment;
pub mod subscriptions;
pub mod sync;
#[cfg(feature = "schema")]
pub mod views;

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use arc_swap::{ArcSwap, ArcSwapOption};
use authority_domain::cursor::CursorKeys;
use authority_domain::endpoint::url::UrlRulesByOwner;
use authority_domain::merchant::limits::DefaultRates;
use authority_domain::{Refusal, Result, Timestamp};
use authority_store::shards::Turns;
use authority_store::tx::Tx;
use authority_store::{JobError, Store, StoreError};

pub use access::{Caller, Operator};
pub use answer::Answer;
pub use lists::{List, ListRequest};
use mutation::Work;
pub use mutation::{IdempotencyKey, IfMatch, Mutation, Owner};

use self::access::key_use::KeyUse;
use self::job::Reading;
use crate::clock::Clock;
use crate::dice::Dice;
use crate::names::TargetJudge;
use crate::secret_box::SecretBox;

/// What every use case works with; built once at startup. A clone is one count: each request makes several.
#[derive(Clone)]
pub struct App(Arc<AppParts>);

/// What an [`App`] consists of.
#[derive(Clone)]
pub struct AppParts {
    /// The database.
    pub store: Store,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// The dice.
    pub dice: Arc<dyn Dice>,
    /// Seals secrets that must not be stored in clear text.
    pub secrets: Arc<SecretBox>,
    /// The keys that authenticate cursors.
    pub cursors: Arc<ArcSwap<CursorKeys>>,
    /// The rules for URLs that events may be sent to.
    pub urls: UrlRulesByOwner,
    /// Judges the addresses that receivers' names resolve to; `None` where no name is ever resolved.
    pub target_judge: Option<Arc<TargetJudge>>,
    /// `{base_url}` for `Location`, without a slash at the end; empty when it is not configured.
    pub base_url: String,
    /// Where browsers reach the merchant portal, without a slash at the end.
    pub portal_origin: String,
    /// The link that opens the console without a key; there is none but in `authority dev`.
    pub console_link: Arc<console::dev_link::ConsoleLink>,
    /// The rates of merchants that have none of their own; `None` when rate limits are disabled.
    pub rates: Arc<ArcSwapOption<DefaultRates>>,
    /// The cached keys.
    pub known_keys: Arc<access::KnownKeys>,
    /// How long an idempotency key is remembered, in milliseconds.
    pub idempotency_retention_ms: i64,
    /// How long deliveries may be overdue while the service still reports itself ready, in milliseconds.
    pub ready_max_delay_ms: i64,
    /// The keys that were used recently.
    pub key_use: Arc<KeyUse>,
    /// The merchants whose advanced clocks are being worked off.
    pub settling: Arc<sandbox::clock::Settling>,
    /// The merchants that a seed is running for.
    pub seeding: Arc<sandbox::seed::Seeding>,
}

impl From<AppParts> for App {
    fn from(parts: AppParts) -> Self {
        Self(Arc::new(parts))
    }
}

impl Deref for App {
    type Target = AppParts;

    fn deref(&self) -> &AppParts {
        &self.0
    }
}

/// For the start, before there are clones: a later change would hold for this clone alone.
impl DerefMut for App {
    fn deref_mut(&mut self) -> &mut AppParts {
        Arc::make_mut(&mut self.0)
    }
}

impl fmt::Debug for App {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("App")
            .field("store", &self.store)
            .field("base_url", &self.base_url)
            .finish_non_exhaustive()
    }
}

impl App {
    /// The present time.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        Timestamp::from_ms(self.clock.now_ms())
    }

    /// Whether the service can do its work (contract 15.10): the database answers, this program works with its schema,
    /// and due deliveries are sent.
    ///
    /// # Errors
    /// `service_unavailable` when it cannot.
    pub async fn ready(&self) -> Result<()> {
        let now = self.now();
        let not_ready = |why: &str| Err(Refusal { detail: why.to_owned(), ..Refusal::unavailable(1) });
        let unknown = "The schema of the database is not the one this program knows.";
        let seen =
            self.read(async move |tx| Ok((tx.schema_fits().await?, tx.oldest_unattended(now).await?))).await;
        let (fits, oldest) = match seen {
            Ok(seen) => seen,
            Err(
                error @ (StoreError::Unavailable(_) | StoreError::NoConnectionLeft(_) | StoreError::Closed),
            ) => {
                tracing::warn!(%error, "the database does not answer");
                return not_ready("The database does not answer.");
            }
            // Tables, or the right to them, are missing: the database was emptied, or it is another one.
            Err(error) => {
                tracing::warn!(%error, "the schema does not match this program");
                return not_ready(unknown);
            }
        };
        let waited_ms = oldest.map_or(0, |oldest| now.as_ms() - oldest.as_ms());
        if !fits {
            return not_ready(unknown);
        }
        if let Err(error) = self.write(Turns::NONE, async move |tx| tx.write_probe(now).await).await {
            tracing::warn!(%error, "the database takes no writes");
            return not_ready("The database takes no writes.");
        }
        if waited_ms > self.ready_max_delay_ms {
            return not_ready("Deliveries are due and nobody sends them.");
        }
        Ok(())
    }

    /// Reads single records.
    async fn read<T: Send + 'static, E: JobError>(&self, work: impl Reading<T, E>) -> Result<T, E> {
        self.store.read(move |tx: &mut Tx| Box::pin(async move { work(tx).await })).await
    }

    /// Reads what may be much, in its turn among other such reads.
    async fn read_list<T: Send + 'static, E: JobError>(&self, work: impl Reading<T, E>) -> Result<T, E> {
        self.store.read_list(move |tx: &mut Tx| Box::pin(async move { work(tx).await })).await
    }

    /// Writes what is no request's own, with these turns.
    async fn write<T: Send + 'static, E: JobError>(
        &self,
        turns: Turns,
        work: impl Reading<T, E> + Clone,
    ) -> Result<T, E> {
        self.store.write_with(turns, move |tx: &mut Tx| Box::pin(async move { work(tx).await })).await
    }

    /// The URL of a record in the merchant API.
    fn location(&self, collection: &str, id: &str) -> String {
        format!("{}/v1/merchant/{collection}/{id}", self.base_url)
    }
}
