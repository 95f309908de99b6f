//! API keys: `svc_live_`, `svc_test_` or `svc_op_`, then 43 base62 characters of 32 random bytes, then 6 base62
//! characters of a CRC-32 over everything before them (contract 1.2).
//!
//! The operator's command passes in 32 random bytes and shows the key once. From then on the service knows only its
//! SHA-256: the key has full entropy, so a slow password hash would add cost and no safety. A request's key is
//! parsed before any database read; the checksum rejects typing errors at no cost. Deliberately absent: any way to
//! print a key by accident, and scopes (see [`crate::merchant::scope`]), which belong to the stored record.

use sha2::{Digest, Sha256};
use verify_core::base62;
use zeroize::Zeroizing;

/// Base62 characters that hold a CRC-32: 62^6 > 2^32.
const CHECKSUM_LEN: usize = 6;
/// Characters of the random part that a display shows; 24 of 256 bits, useless to a guesser.
const DISPLAY_LEN: usize = 4;

/// Which of the three kinds of key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum KeyKind {
    /// A merchant's key for live data.
    Live,
    /// A merchant's key for test data.
    Test,
    /// A key of the operator side.
    Operator,
}

impl KeyKind {
    /// Every kind.
    pub const ALL: &'static [Self] = &[Self::Live, Self::Test, Self::Operator];

    /// What the written key begins with.
    #[must_use]
    pub const fn prefix(self) -> &'static str {
        match self {
            Self::Live => "svc_live_",
            Self::Test => "svc_test_",
            Self::Operator => "svc_op_",
        }
    }

    /// The mode of a merchant key; `None` for an operator key, which has none.
    #[must_use]
    pub const fn livemode(self) -> Option<bool> {
        match self {
            Self::Live => Some(true),
            Self::Test => Some(false),
            Self::Operator => None,
        }
    }
}

/// A well-formed key. Whether it exists, only the store knows. Wiped when dropped, redacted in `Debug`.
#[derive(Clone)]
pub struct ApiKey {
    kind: KeyKind,
    text: Zeroizing<String>,
}

/// The text is not a key: unknown prefix, wrong length, foreign character, or wrong checksum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a well-formed API key")]
pub struct MalformedApiKey;

impl ApiKey {
    /// A new key from 32 random bytes.
    #[must_use]
    pub fn generate(kind: KeyKind, random: &[u8; 32]) -> Self {
        let mut text = Zeroizing::new(String::with_capacity(64));
        text.push_str(kind.prefix());
        text.extend(base62::encode(*random).iter().map(|digit| char::from(*digit)));
        let checksum = checksum(&text);
        text.extend(checksum);
        Self { kind, text }
    }

    /// Reads a written key.
    ///
    /// # Errors
    /// [`MalformedApiKey`], without saying which rule was broken.
    pub fn parse(text: &str) -> Result<Self, MalformedApiKey> {
        let (kind, rest) = KeyKind::ALL
            .iter()
            .find_map(|kind| text.strip_prefix(kind.prefix()).map(|rest| (*kind, rest)))
            .ok_or(MalformedApiKey)?;
        if rest.len() != base62::WIDTH + CHECKSUM_LEN
            || !rest.bytes().all(|byte| byte.is_ascii_alphanumeric())
        {
            return Err(MalformedApiKey);
        }
        let (covered, given) = text.split_at_checked(text.len() - CHECKSUM_LEN).ok_or(MalformedApiKey)?;
        if !given.chars().eq(checksum(covered)) {
            return Err(MalformedApiKey);
        }
        Ok(Self { kind, text: Zeroizing::new(text.to_owned()) })
    }

    /// Live, test or operator.
    #[must_use]
    pub fn kind(&self) -> KeyKind {
        self.kind
    }

    /// What the store keeps and looks up: SHA-256 of the whole written key.
    #[must_use]
    pub fn hash(&self) -> [u8; 32] {
        Sha256::digest(self.text.as_bytes()).into()
    }

    /// How the key is shown after its creation: `svc_live_ab12…`.
    #[must_use]
    pub fn display(&self) -> String {
        let shown = self.kind.prefix().len() + DISPLAY_LEN;
        format!("{}…", self.text.get(..shown).unwrap_or_default())
    }

    /// The key itself, for the one moment it is shown.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.text
    }
}

impl std::fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ApiKey({:?}, redacted)", self.kind)
    }
}

/// The checksum over everything before it, in base 62. Six digits hold every number of 32 bits.
fn checksum(covered: &str) -> [char; CHECKSUM_LEN] {
    let mut number = crc32fast::hash(covered.as_bytes());
    let mut digits = ['0'; CHECKSUM_LEN];
    for place in digits.iter_mut().rev() {
        *place = base62::ALPHABET.get((number % 62) as usize).map_or('0', |digit| char::from(*digit));
        number /= 62;
    }
    digits
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use verify_core::base62::ALPHABET;

    use super::{ApiKey, KeyKind, MalformedApiKey};

    #[test]
    fn the_written_form_is_fixed() {
        let counting: [u8; 32] = std::array::from_fn(|index| u8::try_from(index).unwrap());
        // Computed with Python: int.from_bytes written in base 62, zlib.crc32 over prefix and digits.
        let table = [
            (KeyKind::Live, [0; 32], "svc_live_0000000000000000000000000000000000000000000297tdY"),
            (KeyKind::Test, [255; 32], "svc_test_yhjskwdA6OZ1AL1YmHWZWm8LLG7HjnuCA2j5rOw8Xp13ekwWW"),
            (KeyKind::Operator, counting, "svc_op_003aUlTJC7tjlCTQj2uNU3MFagCXG9LRKRcwGkBIDlf0dZdwW"),
        ];
        for (kind, random, written) in table {
            assert_eq!(ApiKey::generate(kind, &random).expose(), written);
        }
    }

    #[test]
    fn neither_debug_nor_display_tells_the_key() {
        let key = ApiKey::generate(KeyKind::Live, &[7; 32]);
        assert_eq!(format!("{key:?}"), "ApiKey(Live, redacted)");
        let random: String = key.expose().chars().skip("svc_live_".len()).take(4).collect();
        assert_eq!(key.display(), format!("svc_live_{random}…"));
    }

    #[test]
    fn refuses_what_is_not_a_key() {
        let key = ApiKey::generate(KeyKind::Operator, &[9; 32]).expose().to_owned();
        let longer = format!("{key}0");
        let table = [
            "",
            "svc_live_",
            "svc_prod_abc",
            key.get(1..).unwrap(),
            key.get(..key.len() - 1).unwrap(),
            &longer,
            &key.replace("svc_op_", "svc_live_"),
            &key.replace("svc_op_", "SVC_OP_"),
            &format!(" {key}"),
            &"é".repeat(50),
            &format!("svc_op_{}", "é".repeat(24)),
        ];
        for text in table {
            assert_eq!(ApiKey::parse(text).map(|_| ()), Err(MalformedApiKey), "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn what_is_generated_parses_and_hashes_the_same(random: [u8; 32], kind in prop::sample::select(KeyKind::ALL)) {
            let key = ApiKey::generate(kind, &random);
            let parsed = ApiKey::parse(key.expose()).unwrap();
            prop_assert_eq!(parsed.kind(), kind);
            prop_assert_eq!(parsed.hash(), key.hash());
        }

        #[test]
        fn every_single_altered_character_is_refused(random: [u8; 32], at in 0_usize..58, digit in 0_usize..62) {
            let key = ApiKey::generate(KeyKind::Test, &random);
            let mut altered = key.expose().as_bytes().to_vec();
            prop_assume!(altered[at] != ALPHABET[digit]);
            altered[at] = ALPHABET[digit];
            prop_assert!(ApiKey::parse(std::str::from_utf8(&altered).unwrap()).is_err());
        }
    }
}
