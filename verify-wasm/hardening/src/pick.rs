//! Choices made by bytes. Bytes that have run out choose the first of everything, so tables begin with what is right.

use arbitrary::{Result, Unstructured};

/// One of these.
pub(crate) fn one_of<'t>(u: &mut Unstructured<'_>, table: &[&'t str]) -> Result<&'t str> {
    u.choose(table).copied()
}

/// Whether something happens that does so once in `n` times.
pub(crate) fn rarely(u: &mut Unstructured<'_>, n: u8) -> Result<bool> {
    Ok(u.int_in_range(0..=n.saturating_sub(1))? == n.saturating_sub(1))
}

/// One of the right ones, or once in `n` times one of the wrong ones.
pub(crate) fn mostly<'t>(
    u: &mut Unstructured<'_>,
    n: u8,
    right: &[&'t str],
    wrong: &[&'t str],
) -> Result<&'t str> {
    if rarely(u, n)? { one_of(u, wrong) } else { one_of(u, right) }
}
