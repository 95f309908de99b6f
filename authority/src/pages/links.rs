//! Where pages are. Ids come from the service's own store or from a path that was parsed; they are encoded all the
//! same.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use super::view::Cell;

/// What stands unencoded in a segment or in a value of a query.
const PLAIN: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The pages of a site.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Links {
    /// The path of its first page.
    pub(crate) root: &'static str,
    /// The letters before the underscore of an id, and the room that has a page for it.
    pub(crate) rooms: &'static [(&'static str, &'static str)],
    /// Where a record leads whose kind has no room; `None` for nowhere.
    pub(crate) otherwise: Option<&'static str>,
}

impl Links {
    /// The page of a record below `room`, such as `events`.
    pub(crate) fn record(&self, room: &str, id: &str) -> String {
        format!("{}/{room}/{}", self.root, encoded(id))
    }

    /// The page of a record, found by its id alone; `None` when the site has no page for it.
    pub(crate) fn anything(&self, id: &str) -> Option<String> {
        let kind = id.split_once('_').map_or("", |(prefix, _)| prefix);
        let room = self.rooms.iter().find(|(prefix, _)| *prefix == kind);
        match room {
            Some((_, room)) => Some(self.record(room, id)),
            None => self.otherwise.map(|search| format!("{}{search}{}", self.root, encoded(id))),
        }
    }

    /// An id that leads to its record.
    pub(crate) fn id(&self, id: impl ToString) -> Cell {
        let id = id.to_string();
        match self.anything(&id) {
            Some(path) if !id.is_empty() => Cell::Link { text: id, path },
            _ => Cell::text(id),
        }
    }
}

/// A segment of a path, or a value of a query.
pub(crate) fn encoded(text: &str) -> String {
    utf8_percent_encode(text, PLAIN).to_string()
}

/// `live` or `test`.
pub(crate) fn mode(livemode: bool) -> &'static str {
    if livemode { "live" } else { "test" }
}
