//! Signing secrets: which texts are usable, how a new one is made, how one is shown.
//!
//! The key is the UTF-8 text of the whole secret, prefix included (contract 10.5); there is no decoding and so
//! no variant of it to get wrong. Only for the `webhook-*` headers of an endpoint with that profile is the text decoded
//! ([`crate::standard_webhooks`]). A secret that cannot be meant (a trailing newline from an environment file,
//! the bare prefix) is refused here and loudly, instead of failing every signature for ever.

use alloc::string::String;
use core::fmt;

use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use crate::mac::{self, KeyStates};
use crate::profile::Profile;
use crate::{base62, standard_webhooks};

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
    pub(crate) states: KeyStates,
}

impl Secret {
    /// Takes the secret as it is configured or stored.
    ///
    /// # Errors
    ///
    /// [`UnusableSecret`] unless the text is [`PREFIX`] and at least one more character, at most
    /// [`MAX_CHARS`] characters, all of them visible ASCII (0x21 to 0x7E).
    pub fn parse(text: &str) -> Result<Self, UnusableSecret> {
        Self::parse_bytes(text.as_bytes())
    }

    /// The same for a text that may not even be UTF-8.
    ///
    /// # Errors
    ///
    /// As [`Secret::parse`].
    pub fn parse_bytes(text: &[u8]) -> Result<Self, UnusableSecret> {
        Ok(Self { states: KeyStates::new(key(text)?) })
    }

    /// The secret as the key that it is in this profile.
    ///
    /// # Errors
    ///
    /// As [`Secret::parse`]; for [`Profile::StandardWebhooks`] as [`standard_webhooks::Key::parse`].
    pub fn parse_for(profile: Profile, text: &str) -> Result<Self, UnusableSecret> {
        match profile {
            Profile::Service => Self::parse(text),
            Profile::StandardWebhooks => {
                Ok(Self { states: standard_webhooks::Key::parse(text.as_bytes())?.states() })
            }
        }
    }

    /// The secret whose states are those of a [`Prepared`].
    #[must_use]
    pub fn from_states(states: &[u8; mac::STATES_LEN]) -> Self {
        Self { states: KeyStates::from_bytes(states) }
    }
}

/// What a host keeps of a secret between calls. It is as secret as the text, and zeroed on drop.
#[derive(Zeroize, ZeroizeOnDrop)]
pub struct Prepared {
    /// The inner and the outer state, for [`Secret::from_states`].
    pub states: [u8; mac::STATES_LEN],
    /// What a host that has a faster SHA-256 puts before the message, so that its plain digest of both is what
    /// [`Secret::sign_digest`] takes (RFC 2104: the key, exclusive-or 0x36).
    pub inner_pad: [u8; mac::BLOCK_LEN],
}

impl Prepared {
    /// Room for one secret.
    #[must_use]
    pub fn new() -> Self {
        Self { states: [0; mac::STATES_LEN], inner_pad: [0; mac::BLOCK_LEN] }
    }

    /// Prepares a secret in this room, so that no copy stays anywhere else.
    ///
    /// # Errors
    ///
    /// As [`Secret::parse_for`].
    pub fn prepare(&mut self, profile: Profile, text: &[u8]) -> Result<(), UnusableSecret> {
        match profile {
            Profile::Service => self.take(key(text)?),
            Profile::StandardWebhooks => self.take(standard_webhooks::Key::parse(text)?.as_bytes()),
        }
        Ok(())
    }

    #[inline(never)]
    fn take(&mut self, key: &[u8]) {
        let mut states = KeyStates::of_nothing();
        states.prepare(key);
        states.write_to(&mut self.states);
        mac::write_inner_pad(&mut self.inner_pad, key);
    }
}

impl Default for Prepared {
    fn default() -> Self {
        Self::new()
    }
}

/// The key that a secret is for HMAC-SHA256: all bytes of its text (contract 10.5).
///
/// # Errors
///
/// As [`Secret::parse`].
pub fn key(text: &[u8]) -> Result<&[u8], UnusableSecret> {
    let rest = text.strip_prefix(PREFIX.as_bytes()).ok_or(UnusableSecret)?;
    if rest.is_empty() || text.len() > MAX_CHARS || !rest.iter().all(u8::is_ascii_graphic) {
        return Err(UnusableSecret);
    }
    Ok(text)
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

/// A new signing secret from 32 random bytes, in the form of this profile.
#[must_use]
pub fn generate_for(profile: Profile, random: [u8; 32]) -> String {
    match profile {
        Profile::Service => generate(random),
        Profile::StandardWebhooks => standard_webhooks::generate(random),
    }
}

/// How a secret is shown in lists: an ellipsis and its last three characters, `…q3M`.
#[must_use]
pub fn hint(secret: &str) -> String {
    let start = secret.char_indices().rev().nth(2).map_or(0, |(at, _)| at);
    let mut text = String::from("…");
    text.push_str(secret.get(start..).unwrap_or_default());
    text
}
