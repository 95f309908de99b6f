//! The rules of single members (contract 10.3). Each takes the text that is meant, escapes resolved.

/// Whether the text can be an event's id, `^evt_[0-9A-Za-z_-]{1,124}$` (contract 10.3). Such a text needs no escaping
/// in a header, a URL's path or JSON.
#[must_use]
pub fn is_event_id(text: &str) -> bool {
    is_id(text, "evt_")
}

/// `^mer_[0-9A-Za-z_-]{1,124}$`
pub(super) fn is_merchant_id(text: &str) -> bool {
    is_id(text, "mer_")
}

/// The alphabet is narrow because the id becomes a header value, a URL path segment and a storage key.
fn is_id(text: &str, prefix: &str) -> bool {
    let allowed = |byte: &u8| byte.is_ascii_alphanumeric() | (*byte == b'_') | (*byte == b'-');
    // Without an early exit the compiler checks a block at once.
    let all_allowed = |block: &[u8; 16]| block.iter().fold(true, |fine, byte| fine & allowed(byte));
    text.strip_prefix(prefix).is_some_and(|rest| {
        let rest = rest.as_bytes();
        (1..=124).contains(&rest.len())
            && match rest.last_chunk() {
                Some(last) => rest.as_chunks().0.iter().chain([last]).all(all_allowed),
                None => rest.iter().all(allowed),
            }
    })
}

/// `^[a-z][a-z0-9_]*(\.[a-z0-9_]+)+$`, at most 128 characters. Unknown names pass.
pub(super) fn is_event_type(text: &str) -> bool {
    let mut before = b'.';
    let mut dots = 0;
    let mut is_allowed = |byte| {
        let is_dot = byte == b'.';
        let allowed = if is_dot { before != b'.' } else { matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_') };
        before = byte;
        dots += u32::from(is_dot);
        allowed
    };
    let begins_well = text.starts_with(|first: char| first.is_ascii_lowercase());
    text.len() <= 128 && begins_well && text.bytes().all(&mut is_allowed) && dots > 0 && before != b'.'
}

/// A real Gregorian date, `YYYY-MM-DD`, year 0001 to 9999.
pub(super) fn is_date(text: &str) -> bool {
    text.as_bytes().try_into().is_ok_and(is_date_bytes)
}

/// A real time in the one accepted form, `YYYY-MM-DDTHH:MM:SS.mmmZ`: hour 00 to 23, no leap second, no offset.
pub(super) fn is_time(text: &str) -> bool {
    let Some((date, [b'T', h1, h2, b':', m1, m2, b':', s1, s2, b'.', f1, f2, f3, b'Z'])) =
        text.as_bytes().split_first_chunk()
    else {
        return false;
    };
    is_date_bytes(date)
        && number(&[*h1, *h2]).is_some_and(|hour| hour < 24)
        && number(&[*m1, *m2]).is_some_and(|minute| minute < 60)
        && number(&[*s1, *s2]).is_some_and(|second| second < 60)
        && number(&[*f1, *f2, *f3]).is_some()
}

/// 1 to 128 characters, none of them a control character.
pub(super) fn is_slug(text: &str) -> bool {
    !text.is_empty() && text.chars().nth(128).is_none() && !text.contains(char::is_control)
}

fn is_date_bytes(text: &[u8; 10]) -> bool {
    let [y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2] = text else { return false };
    let (Some(year @ 1..), Some(month), Some(day @ 1..)) =
        (number(&[*y1, *y2, *y3, *y4]), number(&[*m1, *m2]), number(&[*d1, *d2]))
    else {
        return false;
    };
    day <= days_in_month(year, month)
}

/// Zero for a month that does not exist.
fn days_in_month(year: u32, month: u32) -> u32 {
    match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)) => 29,
        2 => 28,
        _ => 0,
    }
}

/// The number that ASCII digits write; `None` for any other byte.
fn number(digits: &[u8]) -> Option<u32> {
    digits.iter().try_fold(0, |value, byte| match byte {
        b'0'..=b'9' => Some(value * 10 + u32::from(byte - b'0')),
        _ => None,
    })
}
