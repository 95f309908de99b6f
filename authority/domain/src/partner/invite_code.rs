//! Invite codes: `inv_` and 26 base32 characters, which hold 128 random bits (contract 1.2).
//!
//! The inviting merchant gets the code once and gives it to the partner outside of the service. From then on the
//! service knows only its SHA-256: with 128 random bits there is nothing to guess, so a slow hash would add cost and
//! no safety. Deliberately absent: a checksum, which a code that is used once does not need, and any way to print
//! one by accident.

use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

/// The letters before the underscore.
const PREFIX: &str = "inv";

/// A well-formed invite code. Wiped when dropped, redacted in `Debug`.
#[derive(Clone)]
pub struct InviteCode {
    text: Zeroizing<String>,
}

impl InviteCode {
    /// A new code from 128 random bits.
    #[must_use]
    pub fn generate(random: [u8; 16]) -> Self {
        Self { text: Zeroizing::new(verify_core::id::encode(PREFIX, u128::from_be_bytes(random))) }
    }

    /// Reads a written code; `None` for anything else.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        verify_core::id::is_issued(PREFIX, text).then(|| Self { text: Zeroizing::new(text.to_owned()) })
    }

    /// What is stored in its place.
    #[must_use]
    pub fn hash(&self) -> [u8; 32] {
        Sha256::digest(self.text.as_bytes()).into()
    }

    /// The code itself, for the one answer that shows it.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.text
    }
}

impl std::fmt::Debug for InviteCode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("InviteCode").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_written_and_read_and_never_shown() {
        let code = InviteCode::generate([0xff; 16]);
        assert_eq!(code.expose(), "inv_7zzzzzzzzzzzzzzzzzzzzzzzzz");
        assert_eq!(InviteCode::parse(code.expose()).map(|read| read.hash()), Some(code.hash()));
        assert_eq!(format!("{code:?}"), "InviteCode { .. }");
        assert_ne!(code.hash(), InviteCode::generate([0; 16]).hash());
    }

    #[test]
    fn anything_else_is_not_a_code() {
        let written = InviteCode::generate([7; 16]).expose().to_owned();
        for text in ["", "inv_", "inv_1", &written[4..], &written.to_uppercase(), &format!("{written} ")] {
            assert!(InviteCode::parse(text).is_none(), "{text:?}");
        }
        assert!(InviteCode::parse(&written.replace("inv_", "pcn_")).is_none());
    }
}
