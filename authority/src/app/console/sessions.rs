//! Sessions of the operator's console (contract 20).
//!
//! An operator signs in with an operator key and gets a session: 256 random bits, which the cookie holds and of which
//! the database knows the hash. Every request looks the session up together with its key, in the database and not in
//! the cache of keys. So a session ends on every instance at once: by signing out, which removes it; with its key,
//! when that is revoked; and by time, twelve hours after it began or one hour after it was last used. Housekeeping
//! removes those that time has ended.
//!
//! The token of a session's forms is derived from the same bits (`session_secret`).

use std::time::Duration;

use authority_domain::merchant::api_key::{ApiKey, KeyKind};
use authority_domain::{Author, KeyId, OperatorScope, RequestId, Result, Timestamp};
use authority_store::shards::Turns;
use authority_store::tx::ConsoleSession;
use tokio::time::timeout;
use zeroize::Zeroizing;

use crate::app::access::unknown_key;
use crate::app::session_secret::SessionSecret;
use crate::app::{App, Operator};

/// Labels of what is derived from a session's secret.
const STORED: &str = "authority console session";
const FORMS: &str = "authority console forms";

/// What every page of the console needs.
pub const READS: &[OperatorScope] = &[OperatorScope::OperatorRead];

/// How long a session lasts at most.
const LIFE_MS: i64 = 12 * 60 * 60 * 1000;

/// How long it lasts without being used.
pub const IDLE_MS: i64 = 60 * 60 * 1000;

/// How often its use is recorded at most.
const USE_RECORDED_MS: i64 = 60 * 1000;

/// How long a page waits until its use is recorded.
const USE_WAIT: Duration = Duration::from_secs(1);

/// Whether a request is a use of its session: what a page asks for by itself is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Noted {
    /// The session lasts on.
    Yes,
    /// It ends as if nothing had been asked.
    No,
}

/// A running session. Has no `Debug`: it holds the token of its forms.
#[derive(Clone)]
pub struct SignedIn {
    /// Whoever signed in.
    pub operator: Operator,
    /// The name of the operator key.
    pub key_name: String,
    /// What every form of this session carries.
    pub form_token: String,
}

impl App {
    /// Signs in with an operator key; what the cookie is to hold.
    ///
    /// # Errors
    /// `invalid_api_key`; `insufficient_scope` for a key that may see no page.
    pub async fn console_sign_in(&self, key: &ApiKey, request_id: RequestId) -> Result<Zeroizing<String>> {
        if key.kind() != KeyKind::Operator {
            return Err(unknown_key());
        }
        // Not from the cache: a key that was revoked a moment ago begins no session.
        let operator = self.operator_key(key.hash()).await?;
        // Its session would have no page, not even one with a way out.
        operator.check_scope(READS)?;
        let secret = SessionSecret::generate(self.dice.as_ref());
        let now = self.now();
        let session = ConsoleSession {
            hash: secret.hash(STORED),
            key_id: operator.key_id.clone(),
            created_at: now,
            used_at: now,
        };
        let entry =
            self.session_entry("console.sign_in", Author::Operator(operator.key_id.clone()), request_id);
        self.write(Turns::OPERATOR, async move |tx| {
            tx.console_session_insert(&session).await?;
            tx.audit_insert(&entry).await
        })
        .await?;
        Ok(secret.text())
    }

    /// The session that a cookie names, if it is running; notes whether it was used.
    pub async fn console_session(&self, cookie: &str, noted: Noted) -> Result<Option<SignedIn>> {
        let Some(secret) = SessionSecret::read(cookie) else { return Ok(None) };
        let (hash, now) = (secret.hash(STORED), self.now());
        let found = self.read(async move |tx| tx.console_session(&hash).await).await?;
        let Some((session, key)) = found.filter(|(session, _)| is_running(session, now)) else {
            return Ok(None);
        };
        let key_name = key.name.clone();
        let Some(operator) = Operator::of_record(key) else { return Ok(None) };
        if noted == Noted::Yes && now.as_ms() - session.used_at.as_ms() >= USE_RECORDED_MS {
            let used = self.write(Turns::NONE, async move |tx| tx.console_session_used(&hash, now).await);
            // While the database takes no writes, or leaves them without an answer, the pages are needed most. The
            // session ends earlier then.
            match timeout(USE_WAIT, used).await {
                Ok(Ok(())) => {}
                Ok(Err(refusal)) => {
                    tracing::warn!(%refusal, "the use of a session of the console could not be recorded")
                }
                Err(_) => tracing::warn!("the use of a session of the console was not recorded in time"),
            }
        }
        Ok(Some(SignedIn { operator, key_name, form_token: hex::encode(secret.hash(FORMS)) }))
    }

    /// Ends the session that a cookie names.
    pub async fn console_sign_out(&self, cookie: &str, key: &KeyId, request_id: RequestId) -> Result<()> {
        let Some(secret) = SessionSecret::read(cookie) else { return Ok(()) };
        let hash = secret.hash(STORED);
        let entry = self.session_entry("console.sign_out", Author::Operator(key.clone()), request_id);
        self.write(Turns::OPERATOR, async move |tx| {
            tx.console_session_end(&hash).await?;
            Ok(tx.audit_insert(&entry).await?)
        })
        .await
    }
}

/// Whether neither limit has passed. A clock that was set back ends nothing.
fn is_running(session: &ConsoleSession, now: Timestamp) -> bool {
    now.as_ms() - session.created_at.as_ms() < LIFE_MS && now.as_ms() - session.used_at.as_ms() < IDLE_MS
}
