//! Successful answers.

/// A successful answer.
#[derive(Clone, Copy, Debug)]
pub struct Success {
    /// HTTP status, 2xx.
    pub status: u16,
    /// The description, for people.
    pub about: &'static str,
    /// Its content.
    pub content: Content,
    /// Whether it has an `ETag`, the version of the record.
    pub tagged: bool,
    /// Whether a reader that has the version gets 304 instead (`If-None-Match`).
    pub conditional: bool,
    /// Whether it has a `Location`.
    pub located: bool,
}

/// The content of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// A record or a result, by the name of its definition.
    Record(&'static str),
    /// A page of these.
    Page(&'static str),
    /// A page of these, with `resume_cursor`.
    Feed(&'static str),
    /// Any JSON object.
    Json,
    /// Text of this media type.
    Text(&'static str),
}

const fn new(status: u16, about: &'static str, content: Content) -> Success {
    Success { status, about, content, tagged: false, conditional: false, located: false }
}

/// 200 with a record or a result.
pub(in crate::http) const fn ok(definition: &'static str, about: &'static str) -> Success {
    new(200, about, Content::Record(definition))
}

/// 201 with what was created.
pub(in crate::http) const fn created(definition: &'static str, about: &'static str) -> Success {
    new(201, about, Content::Record(definition))
}

/// 202 with what will be done.
pub(in crate::http) const fn accepted(definition: &'static str, about: &'static str) -> Success {
    new(202, about, Content::Record(definition))
}

/// 200 with a page.
pub(in crate::http) const fn page(definition: &'static str, about: &'static str) -> Success {
    new(200, about, Content::Page(definition))
}

/// 200 with a page of a feed.
pub(in crate::http) const fn feed(definition: &'static str, about: &'static str) -> Success {
    new(200, about, Content::Feed(definition))
}

/// 200 with a self-describing JSON object.
pub(in crate::http) const fn json(about: &'static str) -> Success {
    new(200, about, Content::Json)
}

/// 200 with a text.
pub(in crate::http) const fn plain(media_type: &'static str, about: &'static str) -> Success {
    new(200, about, Content::Text(media_type))
}

impl Success {
    /// With the version as `ETag`.
    pub(in crate::http) const fn tagged(self) -> Self {
        Self { tagged: true, ..self }
    }

    /// With the version as `ETag`, and 304 for a reader that has it.
    pub(in crate::http) const fn conditional(self) -> Self {
        Self { tagged: true, conditional: true, ..self }
    }

    /// With the `Location` of what was created.
    pub(in crate::http) const fn located(self) -> Self {
        Self { located: true, ..self }
    }
}
