//! Media types as RFC 9110 section 8.3.1 defines them: blanks may surround `;`, and nothing needs to follow a `;`.
//!
//! Written by hand, because the crates that parse media types reject the blanks. Names are compared
//! case-insensitively; a quoted value means the text inside its quotes.

/// A media type: its essence and its parameters, names in lower case.
pub(super) struct MediaType {
    /// `type/subtype`.
    pub(super) essence: String,
    /// In the order received; a name may occur more than once.
    pub(super) parameters: Vec<(String, String)>,
}

impl MediaType {
    /// Reads a `Content-Type`; `None` for one that is malformed.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (kind, rest) = token(text)?;
        let (subtype, mut rest) = token(rest.strip_prefix('/')?)?;
        let mut parameters = Vec::new();
        loop {
            rest = blanks(rest);
            if rest.is_empty() {
                let essence = format!("{kind}/{subtype}").to_ascii_lowercase();
                return Some(Self { essence, parameters });
            }
            rest = blanks(rest.strip_prefix(';')?);
            if rest.is_empty() || rest.starts_with(';') {
                continue;
            }
            let (name, after) = token(rest)?;
            let after = after.strip_prefix('=')?;
            let (value, after) = match after.strip_prefix('"') {
                Some(quoted) => quoted_string(quoted)?,
                None => token(after).map(|(value, rest)| (value.to_owned(), rest))?,
            };
            parameters.push((name.to_ascii_lowercase(), value));
            rest = after;
        }
    }
}

fn blanks(text: &str) -> &str {
    text.trim_start_matches([' ', '\t'])
}

/// RFC 9110 section 5.6.2.
fn token(text: &str) -> Option<(&str, &str)> {
    let is_token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    let end = text.find(|c| !is_token(c)).unwrap_or(text.len());
    (end > 0).then(|| text.split_at(end))
}

/// The text before the closing quotation mark, and the rest after it (RFC 9110 section 5.6.4).
fn quoted_string(text: &str) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut characters = text.chars();
    loop {
        match characters.next()? {
            '"' => return Some((value, characters.as_str())),
            '\\' => value.push(characters.next()?),
            c => value.push(c),
        }
    }
}
