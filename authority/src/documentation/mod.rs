//! The documents that the program ships, as Markdown: what its users read, and programs that write programs.
//!
//! The build script takes them from the repository ([`list`]), makes their links fit where they are served, finds their
//! sections, and compresses them; it also writes the reference of each API from its OpenAPI document, and an index.
//! [`crate::http::documents`] serves them, `authority mcp` searches them. Deliberately absent: HTML, which is made of
//! Markdown by those who want it.

// The build script reads what the tests and the program itself do not.
#[cfg(test)]
mod list;
#[cfg(test)]
mod tests;

/// A document.
#[derive(Debug)]
pub(crate) struct Document {
    /// It is served as `/docs/<name>.md`.
    pub(crate) name: &'static str,
    /// Its first heading.
    pub(crate) title: &'static str,
    /// What is in it, in one line.
    pub(crate) summary: &'static str,
    /// The Markdown.
    pub(crate) text: &'static str,
    /// The same, compressed.
    pub(crate) gzip: &'static [u8],
    /// Its sections in order: together they are the text from the first heading on.
    pub(crate) sections: &'static [Section],
}

/// A heading of a document and what stands below it, up to the next heading of any level.
#[derive(Debug)]
pub(crate) struct Section {
    /// The level of the heading, 1 to 6.
    pub(crate) level: usize,
    /// The heading.
    pub(crate) title: &'static str,
    /// The fragment by which a link names it.
    pub(crate) anchor: &'static str,
    /// Where it begins in the text, in bytes.
    start: usize,
    /// Where it ends.
    end: usize,
}

include!(concat!(env!("OUT_DIR"), "/shipped.rs"));

impl Document {
    /// A section's Markdown, with its heading.
    pub(crate) fn text_of(&self, section: &Section) -> &'static str {
        self.text.get(section.start..section.end).unwrap_or_default()
    }
}

/// Every document of the merchant's listener: the reference, then the others in their order.
pub(crate) fn of_merchants() -> impl Iterator<Item = &'static Document> {
    [&MERCHANT_API].into_iter().chain(&GUIDES)
}
