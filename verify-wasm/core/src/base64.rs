//! Base64 with the standard alphabet and its padding (RFC 4648, 4), for keys and digests of Standard Webhooks.
//!
//! One writing per value: padding is required, and bits that stand for nothing are zero. The libraries for that
//! standard are not all as strict; a secret that only some of them can read is refused here.

/// How many characters a digest of 32 bytes takes.
pub(crate) const DIGEST_LEN: usize = 44;

/// `digest` in base64, one `=` at its end.
pub(crate) fn encode_digest(digest: &[u8; 32]) -> [u8; DIGEST_LEN] {
    let mut text = [b'='; DIGEST_LEN];
    let mut places = text.iter_mut();
    write_digits(digest, |character| {
        if let Some(place) = places.next() {
            *place = character;
        }
    });
    text
}

/// Hands the digits of `bytes` to `write`, without padding. Which instructions run depends on the length alone.
pub(crate) fn write_digits(bytes: &[u8], mut write: impl FnMut(u8)) {
    let (mut waiting, mut bits) = (0_u32, 0_u32);
    for byte in bytes {
        waiting = waiting << 8 | u32::from(*byte);
        bits += 8;
        while bits >= 6 {
            bits -= 6;
            write(digit(waiting >> bits & 63));
        }
        waiting &= 0xff;
    }
    if bits > 0 {
        write(digit(waiting << (6 - bits) & 63));
    }
}

/// Writes what `text` stands for to the beginning of `room`; how many bytes that is. `None` for a text that is not
/// base64, is not padded, or does not fit.
pub(crate) fn decode(text: &[u8], room: &mut [u8]) -> Option<usize> {
    if !text.len().is_multiple_of(4) {
        return None;
    }
    let one_less = text.strip_suffix(b"=").unwrap_or(text);
    let digits = one_less.strip_suffix(b"=").unwrap_or(one_less);
    let mut places = room.iter_mut();
    let (mut waiting, mut bits, mut written) = (0_u32, 0_u32, 0);
    for character in digits {
        waiting = waiting << 6 | value(*character)?;
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            *places.next()? = (waiting >> bits) as u8;
            written += 1;
            waiting &= (1 << bits) - 1;
        }
    }
    (waiting == 0).then_some(written)
}

/// The character of a value below 64, without a table and without a branch: a digest is not told by what is read.
fn digit(value: u32) -> u8 {
    // All ones where the value lies above the bound, else zero.
    let above = |bound: u32| bound.wrapping_sub(value) >> 8;
    let character = u32::from(b'A')
        .wrapping_add(value)
        .wrapping_add(above(25) & 6)
        .wrapping_sub(above(51) & 75)
        .wrapping_sub(above(61) & 15)
        .wrapping_add(above(62) & 3);
    character as u8
}

/// The value of a character.
fn value(character: u8) -> Option<u32> {
    let value = match character {
        b'A'..=b'Z' => character - b'A',
        b'a'..=b'z' => character - b'a' + 26,
        b'0'..=b'9' => character - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    };
    Some(value.into())
}
