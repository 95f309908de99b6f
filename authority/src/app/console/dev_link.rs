//! The link that opens the console without a key, once: for `authority dev`, which prints it on the machine that it
//! runs on.
//!
//! It is kept in memory and nowhere else. Only code of this process can issue one (`App::console_link_issue`), which
//! `serve` never does: then there is none that could be opened.

use std::sync::{Mutex, PoisonError};

use authority_domain::merchant::api_key::ApiKey;
use authority_domain::{RequestId, Result};
use subtle::ConstantTimeEq as _;
use zeroize::Zeroizing;

use crate::app::App;
use crate::app::session_secret::SessionSecret;

/// Where a link leads, before the secret.
const OPEN: &str = "/console/open/";
/// The label of what is kept of the secret.
const KEPT: &str = "authority console link";

/// The link that is not opened yet, and the operator key that it signs in with. Has no `Debug`.
#[derive(Default)]
pub struct ConsoleLink(Mutex<Option<([u8; 32], ApiKey)>>);

impl ConsoleLink {
    fn with<T>(&self, act: impl FnOnce(&mut Option<([u8; 32], ApiKey)>) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Whether the link is the one that is kept.
fn names(kept: &Option<([u8; 32], ApiKey)>, link: &str) -> bool {
    let given = SessionSecret::read(link).map(|secret| secret.hash(KEPT));
    given.zip(kept.as_ref()).is_some_and(|(given, (hash, _))| bool::from(given.ct_eq(hash)))
}

impl App {
    /// The path of a new link that signs in with this key. One that was issued before opens nothing any more.
    pub(crate) fn console_link_issue(&self, key: ApiKey) -> String {
        let secret = SessionSecret::generate(self.dice.as_ref());
        self.console_link.with(|kept| *kept = Some((secret.hash(KEPT), key)));
        format!("{OPEN}{}", *secret.text())
    }

    /// Whether a link can still be opened. Asking changes nothing.
    #[must_use]
    pub fn console_link_works(&self, link: &str) -> bool {
        self.console_link.with(|kept| names(kept, link))
    }

    /// Opens a link; what the cookie is to hold. `None` when it was used or never was.
    ///
    /// # Errors
    /// `invalid_api_key` when its key was revoked.
    pub async fn console_link_open(
        &self,
        link: &str,
        request_id: RequestId,
    ) -> Result<Option<Zeroizing<String>>> {
        let taken = self.console_link.with(|kept| if names(kept, link) { kept.take() } else { None });
        match taken {
            Some((_, key)) => self.console_sign_in(&key, request_id).await.map(Some),
            None => Ok(None),
        }
    }
}
