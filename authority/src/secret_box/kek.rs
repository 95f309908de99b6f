//! The key-encryption key: 32 random bytes that the operator keeps outside the database (contract 6.5).
//!
//! It is never used as a key itself. HKDF-SHA256 (RFC 5869) derives one key per purpose from it, so that the sealing
//! of secrets and the authentication of cursors share nothing, and a one-byte id that tells two keys apart without
//! revealing them.

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use hkdf::Hkdf;
use sha2::Sha256;
use zeroize::{Zeroize as _, Zeroizing};

use crate::dice::Dice;

/// Length of every key here, in bytes.
const KEY_BYTES: usize = 32;

/// Standard alphabet, because `openssl rand -base64 32` writes it; the `=` at the end may be missing.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// The text is not 32 bytes in base64.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not 32 bytes in base64")]
pub struct MalformedKey;

/// A key-encryption key. Overwritten with zeros when dropped, never shown by `Debug`.
#[derive(Clone, PartialEq, Eq)]
pub struct Kek(Zeroizing<[u8; KEY_BYTES]>);

impl Kek {
    /// Reads a key from its written form: 32 bytes in base64 (standard alphabet, padding optional).
    ///
    /// # Errors
    /// [`MalformedKey`] for anything else, surrounding blanks included.
    pub fn parse(text: &str) -> Result<Self, MalformedKey> {
        let mut bytes = BASE64.decode(text).map_err(|_| MalformedKey)?;
        let key = <[u8; KEY_BYTES]>::try_from(bytes.as_slice()).map(Zeroizing::new);
        bytes.zeroize();
        key.map(Self).map_err(|_| MalformedKey)
    }

    /// A new random key.
    pub fn generate(dice: &dyn Dice) -> Self {
        let mut key = Zeroizing::new([0; KEY_BYTES]);
        dice.fill(&mut *key);
        Self(key)
    }

    /// The written form that [`Kek::parse`] reads, to be kept in a file or a secret store.
    pub fn to_base64(&self) -> Zeroizing<String> {
        Zeroizing::new(BASE64.encode(self.0.as_slice()))
    }

    /// One byte that is the same for the same key; two different keys share it with a chance of 1 in 256.
    pub(crate) fn id(&self) -> u8 {
        let [id] = self.derive(b"authority key id v1");
        id
    }

    /// The AES-256 key under which signing secrets are sealed.
    pub(super) fn sealing_key(&self) -> Zeroizing<[u8; KEY_BYTES]> {
        Zeroizing::new(self.derive(b"authority webhook signing secrets v1"))
    }

    /// The HMAC key of cursors when the operator configured none (contract 6.5, 8.5).
    pub(crate) fn cursor_key(&self) -> Zeroizing<[u8; KEY_BYTES]> {
        Zeroizing::new(self.derive(b"authority cursors v1"))
    }

    fn derive<const N: usize>(&self, purpose: &[u8]) -> [u8; N] {
        const { assert!(N <= 255 * 32, "HKDF-SHA256 gives no more (RFC 5869, 2.3)") };
        let mut output = [0; N];
        match Hkdf::<Sha256>::new(None, &*self.0).expand(purpose, &mut output) {
            Ok(()) => output,
            Err(_) => unreachable!("the length was checked when this was compiled"),
        }
    }
}

impl std::fmt::Debug for Kek {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Kek(redacted)")
    }
}
