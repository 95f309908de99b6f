//! 32 random bytes as 43 base62 characters, the body of signing secrets and API keys (contract 1.2).
//!
//! 62^43 is just above 2^256, so 43 characters hold 32 bytes and the width is fixed. The number is written
//! big-endian with leading zeros; nothing ever decodes it, because secrets are used as the text they are.

use zeroize::Zeroize;

/// The digits in order of their value.
pub const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// How many characters 32 bytes take.
pub const WIDTH: usize = 43;

/// `bytes` as a big-endian number in base 62, always [`WIDTH`] ASCII characters.
#[must_use]
pub fn encode(mut bytes: [u8; 32]) -> [u8; WIDTH] {
    let mut text = [b'0'; WIDTH];
    for place in text.iter_mut().rev() {
        let mut remainder = 0_u16;
        for byte in &mut bytes {
            let value = remainder << 8 | u16::from(*byte);
            // The remainder is below 62, so the quotient of this digit is below 256.
            *byte = (value / 62) as u8;
            remainder = value % 62;
        }
        *place = ALPHABET.get(usize::from(remainder)).copied().unwrap_or(b'0');
    }
    bytes.zeroize();
    text
}
