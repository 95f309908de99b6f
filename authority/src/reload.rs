//! What a running service takes from a new configuration, and what it checks before (contract 6.5).
//!
//! An operator changes a file that holds a value and sends SIGHUP. The command line reads the whole configuration again
//! and passes it to [`Reloadable::apply`], which either takes all that can change while the service runs, or nothing:
//! the key-encryption keys, the cursor keys, the rate limits and the trusted proxies. (The log's filter belongs to the
//! process, not to the service: [`crate::telemetry::LogFilter`].)
//!
//! Deliberately absent: everything that was opened or started with its value, such as the database, the listeners and
//! the delivery settings. A change of these applies at the next start.

use std::fmt;
use std::sync::Arc;

use arc_swap::ArcSwap;
use authority_domain::merchant::limits::DefaultRates;
use authority_store::StoreError;
use authority_store::tx::{SealedOption, Tx};

use crate::app::{Answer, App};
use crate::config::{Config, TrustedProxies};
use crate::http::rate_limit::RateLimiter;
use crate::metrics::Metrics;
use crate::secret_box::{SecretBox, SecretBoxError, SecretContext};
use crate::service::StartError;

/// The parts of a running service that a reload replaces.
#[derive(Clone)]
pub struct Reloadable {
    pub(crate) app: App,
    pub(crate) limiter: Arc<RateLimiter>,
    pub(crate) proxies: Arc<ArcSwap<TrustedProxies>>,
    pub(crate) metrics: Arc<Metrics>,
}

impl fmt::Debug for Reloadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reloadable").finish_non_exhaustive()
    }
}

impl Reloadable {
    /// Takes the new values. Requests and deliveries under way end with the old ones.
    ///
    /// # Errors
    /// [`StartError::Configuration`] when the new keys do not open the stored secrets, [`StartError::Store`] when that
    /// cannot be checked. Nothing has changed then.
    pub async fn apply(&self, config: &Config) -> Result<(), StartError> {
        let keys = &config.keys;
        check_keys(&self.app, &keys.secret_box()).await?;
        self.app.secrets.replace_keys(&keys.current, keys.previous.as_ref());
        self.app.cursors.store(Arc::clone(&keys.cursors));
        self.app.rates.store(config.rate_limits.as_ref().map(|limits| Arc::new(DefaultRates::from(limits))));
        self.limiter.set(config.rate_limits);
        self.proxies.store(Arc::new(config.trusted_proxies.clone()));
        Ok(())
    }

    /// Counts a reload.
    pub fn record(&self, applied: bool) {
        self.metrics.reload(applied);
    }
}

/// How many stored answers are looked at for such that show a secret: no more than takes no time.
const ANSWERS: i64 = 1_000;

/// Refuses key-encryption keys that do not open the stored secrets: deliveries would fail, and repeated requests. A
/// sample of each kind is opened: one under a key that is not configured, if there is any, for a change of the key may
/// have been interrupted. Headers and client certificates that were altered are one endpoint's matter; those under a
/// key that is not configured are refused, and so is such an answer that shows a secret, if it is among the newest.
pub(crate) async fn check_keys(app: &App, secrets: &SecretBox) -> Result<(), StartError> {
    let known = secrets.beginnings();
    let (sample, options, answers) = app
        .store
        .read_list(move |tx: &mut Tx| {
            Box::pin(async move {
                let mut options = Vec::new();
                for option in SealedOption::ALL {
                    let found = tx.option_sample(option, &known).await?;
                    options.extend(found.map(|(endpoint, sealed)| (option, endpoint, sealed)));
                }
                let answers = tx.newest_sealed_answers(ANSWERS).await?;
                Ok((tx.secret_sample(&known).await?, options, answers))
            })
        })
        .await
        .map_err(|error: StoreError| error)?;
    if let Some((endpoint, secret)) = sample {
        let secret_version = u32::try_from(secret.version).unwrap_or(0);
        let context = SecretContext::SigningSecret { endpoint_id: endpoint.as_str(), secret_version };
        if secrets.open(context, &secret.sealed).is_err() {
            return Err(unopened("signing secrets"));
        }
    }
    for (option, endpoint, sealed) in &options {
        let context = SecretContext::of_option(*option, endpoint);
        if secrets.open(context, sealed) == Err(SecretBoxError::UnknownKey) {
            return Err(unopened(match option {
                SealedOption::RequestHeaders => "headers of endpoints",
                SealedOption::ClientCertificate => "client certificates of endpoints",
            }));
        }
    }
    let unknown = |(key, answer): &(String, String)| {
        matches!(Answer::sealed_under(answer, key, secrets), Err(SecretBoxError::UnknownKey))
    };
    if answers.iter().any(unknown) {
        return Err(unopened("answers that show a secret"));
    }
    Ok(())
}

fn unopened(what: &str) -> StartError {
    StartError::Configuration(format!("AUTHORITY_SECRET_KEK: does not open the {what} in this database"))
}
