//! What the cookie of a session holds, of the console and of the portal: 256 random bits. The database knows their
//! hash, and the token of a session's forms is another one, under another label: whoever reads the database learns
//! neither.

use authority_domain::audit_log::AuditEntry;
use authority_domain::{AuditId, Author, RequestId};
use rand::SeedableRng;
use rand::rngs::StdRng;
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

use crate::app::App;
use crate::dice::Dice;

/// The secret. Has no `Debug`.
pub(in crate::app) struct SessionSecret(Zeroizing<[u8; 32]>);

impl SessionSecret {
    /// A new one.
    pub(in crate::app) fn generate(dice: &dyn Dice) -> Self {
        let mut secret = Zeroizing::new([0; 32]);
        dice.fill(&mut *secret);
        Self(secret)
    }

    /// One of random bytes.
    pub(in crate::app) fn of(bytes: [u8; 32]) -> Self {
        Self(Zeroizing::new(bytes))
    }

    /// Reads the text form; `None` for anything else.
    pub(in crate::app) fn read(text: &str) -> Option<Self> {
        let mut secret = Zeroizing::new([0; 32]);
        hex::decode_to_slice(text, &mut *secret).ok()?;
        Some(Self(secret))
    }

    /// The text form: 64 hexadecimal digits.
    pub(in crate::app) fn text(&self) -> Zeroizing<String> {
        Zeroizing::new(hex::encode(*self.0))
    }

    /// Its hash under a label, so that what one use of it knows is worth nothing for another.
    pub(in crate::app) fn hash(&self, label: &str) -> [u8; 32] {
        Sha256::new().chain_update(label).chain_update(*self.0).finalize().into()
    }
}

impl App {
    /// The entry of the audit log that says that a session began or ended.
    pub(in crate::app) fn session_entry(
        &self,
        operation: &str,
        author: Author,
        request_id: RequestId,
    ) -> AuditEntry {
        let mut seed = [0; 32];
        self.dice.fill(&mut seed);
        let now = self.now();
        AuditEntry {
            id: AuditId::generate(now, &mut StdRng::from_seed(seed)),
            resource_id: Some(author.to_string()),
            created_by: author,
            request_id,
            operation: operation.to_owned(),
            merchant_id: None,
            livemode: None,
            version_before: None,
            version_after: None,
            reason: None,
            created_at: now,
        }
    }
}
