//! From one page to the next: what is stored as the position once a page is durable (contract 4.5, 8.6).
//!
//! `next_cursor` says that more follows, and where. The last page has none; there `resume_cursor` is the position,
//! and an API without it leaves the position where it was, so that the next run reads that page once more and finds
//! duplicates. A cursor is stored and sent back exactly as it came.

use verify_core::event_list::Page;

use super::trouble::Trouble;

/// The longest cursor that is stored, in bytes; the authority's have 47 and it refuses more than 256 (contract 8.5).
const CURSOR_BYTES_MAX: usize = 1024;

/// What to do behind a page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Progress<'p> {
    /// The new position; `None` leaves it.
    pub position: Option<&'p str>,
    /// Whether another page follows.
    pub more: bool,
}

/// What follows from `page`, which was asked for with `cursor`.
///
/// # Errors
/// [`Trouble::UnexpectedAnswer`]: the page leads back to where it began, or its cursor cannot be one.
pub fn after<'p>(page: &'p Page<'_>, cursor: Option<&str>) -> Result<Progress<'p>, Trouble> {
    let next = page.next_cursor.as_deref();
    let position = next.or(page.resume_cursor.as_deref());
    let circles = next.is_some() && next == cursor;
    if circles || position.is_some_and(|position| position.len() > CURSOR_BYTES_MAX) {
        return Err(Trouble::UnexpectedAnswer);
    }
    Ok(Progress { position: position.filter(|position| Some(*position) != cursor), more: next.is_some() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions() {
        let long = "c".repeat(1025);
        let event = "{}";
        let ok = |position, more| Ok(Progress { position, more });
        let unexpected = Err(Trouble::UnexpectedAnswer);
        for (events, next, resume, cursor, expected) in [
            (1, Some("b"), Some("b"), Some("a"), ok(Some("b"), true)),
            (1, Some("b"), None, None, ok(Some("b"), true)),
            (1, None, Some("c"), Some("b"), ok(Some("c"), false)),
            (1, None, None, Some("b"), ok(None, false)),
            (0, None, Some("c"), Some("c"), ok(None, false)),
            (0, None, Some("c"), None, ok(Some("c"), false)),
            (1, Some("a"), Some("b"), Some("a"), unexpected),
            (0, Some("b"), None, Some("a"), ok(Some("b"), true)),
            (1, Some(long.as_str()), None, None, unexpected),
            (1, None, Some(long.as_str()), None, unexpected),
        ] {
            let page = Page {
                events: vec![event; events],
                next_cursor: next.map(Into::into),
                resume_cursor: resume.map(Into::into),
            };
            assert_eq!(after(&page, cursor), expected, "{next:?} {resume:?} after {cursor:?}");
        }
    }
}
