//! Signature headers: many candidates, good ones among forged ones, blanks, other schemes, lengths at the limit.

use arbitrary::{Result, Unstructured};

use crate::pick::{one_of, rarely};

/// The longest header that is looked at, in bytes (contract 10.6).
const LIMIT: usize = 16_384;

/// Writes a header. `good` are the digests under the secrets that the receiver trusts.
pub(crate) fn header(u: &mut Unstructured<'_>, good: &[String]) -> Result<String> {
    let mut items = Vec::new();
    let others = if rarely(u, 40)? { u.int_in_range(0..=300)? } else { *u.choose(&[0, 0, 0, 1, 2, 5])? };
    for _ in 0..others {
        items.push(other_item(u, good)?);
    }
    if !rarely(u, 10)? {
        let at = u.int_in_range(0..=items.len())?;
        items.insert(at, format!("v1={}", digest(u, good)?));
    }
    let separator = if rarely(u, 40)? {
        one_of(u, &[";", " ", ",,", "\u{a0}"])?
    } else {
        one_of(u, &[",", ", ", " ,\t"])?
    };
    let mut header = items.join(separator);
    if rarely(u, 30)? && header.len() + 2 < LIMIT {
        let length = *u.choose(&[LIMIT, LIMIT + 1, LIMIT - 1])?;
        let padding = "x".repeat(length - header.len() - 1);
        header = if u.arbitrary()? { format!("{padding},{header}") } else { format!("{header},{padding}") };
    }
    if rarely(u, 12)? {
        let blank = one_of(u, &[" ", "\t", " \t ", "\u{a0}", "\u{feff}", "\n"])?;
        header = format!("{blank}{header}{blank}");
    }
    Ok(header)
}

/// A digest that holds, when there is one.
fn digest<'g>(u: &mut Unstructured<'_>, good: &'g [String]) -> Result<&'g str> {
    if good.is_empty() { Ok("") } else { Ok(u.choose(good)?) }
}

/// An item that is not `v1=` and a digest.
fn other_item(u: &mut Unstructured<'_>, good: &[String]) -> Result<String> {
    let digest = digest(u, good)?;
    Ok(match u.int_in_range(0..=11)? {
        0 => format!("v0={digest}"),
        1 => format!("v1={}", "0".repeat(64)),
        2 => format!("v1={}", altered(u, digest)?),
        3 => format!("v1={}", digest.to_uppercase()),
        4 => format!("v1={}", digest.get(..u.int_in_range(0..=digest.len())?).unwrap_or_default()),
        5 => format!("v1={digest}{}", one_of(u, &["0", "=", "é", "\0"])?),
        6 => format!("{}{digest}", one_of(u, &["v1 =", "v1= ", "V1=", "v11=", "v1", "=", "v1=v1="])?),
        7 => format!("v1=\"{digest}\""),
        8 => one_of(u, &["", "t=1788264000", "v2=abc", "v1=", " ", "\t"])?.to_owned(),
        9 => format!("\u{a0}v1={digest}"),
        10 => digest.to_owned(),
        _ => format!("v1={}", u.arbitrary::<String>()?.replace(',', "")),
    })
}

/// The digest with one character changed.
fn altered(u: &mut Unstructured<'_>, digest: &str) -> Result<String> {
    let mut bytes = digest.as_bytes().to_vec();
    let at = u.int_in_range(0..=bytes.len().saturating_sub(1))?;
    if let Some(byte) = bytes.get_mut(at) {
        *byte = if *byte == b'0' { b'1' } else { b'0' };
    }
    Ok(String::from_utf8(bytes).unwrap_or_default())
}
