//! Signing secrets: which texts are usable, how a new one is made, how one is shown.
//!
//! The key is the UTF-8 text of the whole secret, prefix included (contract 10.5); there is no decoding and so
//! no variant of it to get wrong. A secret that cannot be meant (a trailing newline from an environment file,
//! the bare prefix) is refused here and loudly, instead of failing every signature for ever.

use alloc::string::String;
use core::fmt;

use hmac::{Hmac, KeyInit};
use sha2::Sha256;
use zeroize::{Zeroize, Zeroizing};

use crate::base62;

/// What every signing secret begins with.
pub const PREFIX: &str = "whsec_";

/// The longest usable secret, in characters.
pub const MAX_CHARS: usize = 512;

/// The text is not a usable signing secret (contract 10.5). Says nothing more, so that it may be logged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnusableSecret;

impl fmt::Display for UnusableSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "the signing secret is unusable: whsec_ and 1 to 506 visible ASCII characters are expected",
        )
    }
}

impl core::error::Error for UnusableSecret {}

/// A usable signing secret with its inner and outer HMAC-SHA256 states prepared, so that each message costs
/// only its own blocks. The text itself is not kept; the states are zeroed on drop.
#[derive(Clone)]
pub struct Secret {
    pub(crate) mac: Hmac<Sha256>,
}

impl Secret {
    /// Takes the secret as it is configured or stored.
    ///
    /// # Errors
    ///
    /// [`UnusableSecret`] unless the text is [`PREFIX`] and at least one more character, at most
    /// [`MAX_CHARS`] characters, all of them visible ASCII (0x21 to 0x7E).
    pub fn parse(text: &str) -> Result<Self, UnusableSecret> {
        let rest = text.strip_prefix(PREFIX).ok_or(UnusableSecret)?;
        if rest.is_empty() || text.len() > MAX_CHARS || !rest.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(UnusableSecret);
        }
        // HMAC takes keys of any length, so the error below cannot happen; it is mapped, not unwrapped.
        let mac = Hmac::new_from_slice(text.as_bytes()).map_err(|_| UnusableSecret)?;
        Ok(Self { mac })
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(redacted)")
    }
}

/// A new signing secret from 32 random bytes: [`PREFIX`] and 43 base62 characters, 256 bits (contract 1.2).
#[must_use]
pub fn generate(mut random: [u8; 32]) -> String {
    let digits = Zeroizing::new(base62::encode(random));
    random.zeroize();
    let mut text = String::with_capacity(PREFIX.len() + base62::WIDTH);
    text.push_str(PREFIX);
    text.extend(digits.iter().copied().map(char::from));
    text
}

/// How a secret is shown in lists: an ellipsis and its last three characters, `…q3M`.
#[must_use]
pub fn hint(secret: &str) -> String {
    let start = secret.char_indices().rev().nth(2).map_or(0, |(at, _)| at);
    let mut text = String::from("…");
    text.push_str(secret.get(start..).unwrap_or_default());
    text
}

// `Hmac` does not say so of itself, but it consists of two states of the hash, and these are zeroed on drop.
const _: fn() = || {
    fn zeroed_on_drop<T: zeroize::ZeroizeOnDrop>() {}
    zeroed_on_drop::<Sha256>();
};
