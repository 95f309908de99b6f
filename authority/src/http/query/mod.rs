//! Reads a query string strictly (contract 4.5): each parameter once, each known, each well-formed.
//!
//! A list's filter takes its parameters ([`TakeParameter`]). [`Query::finish`] then refuses any that are left: a typo
//! such as `crusor` must not restart a catch-up loop. The parameters taken as filters form the canonical filter string,
//! to which the list's cursors are bound, so that a cursor is refused under another filter.

use std::collections::BTreeMap;

use authority_domain::list_filter::{ParameterValue, TakeParameter};
use authority_domain::{ErrorCode, Refusal, Result};
use percent_encoding::percent_decode_str;
use url::form_urlencoded;

use super::operation::Operation;

/// Largest `limit` (contract 4.5).
const LIMIT_MAX: u16 = 100;

/// The parameters of one request that have not been taken yet.
#[derive(Debug, Clone)]
pub struct Query {
    left: BTreeMap<String, String>,
    filters: BTreeMap<String, String>,
    canonical: String,
    /// The operation they belong to; a parameter that it does not declare must not be read.
    operation: Option<&'static Operation>,
}

impl Query {
    /// Splits and decodes a query string; `None` is the empty one.
    ///
    /// # Errors
    /// `invalid_parameter` for a repeated parameter, or for a name or value that does not decode to UTF-8.
    pub fn parse(query: Option<&str>) -> Result<Self> {
        let mut left = BTreeMap::new();
        for pair in query.unwrap_or_default().split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let name = decode(name).ok_or_else(|| malformed("?"))?;
            let value = decode(value).ok_or_else(|| malformed(&name))?;
            if left.contains_key(&name) {
                return Err(invalid(&name, "This parameter is given more than once."));
            }
            left.insert(name, value);
        }
        let canonical = form_urlencoded::Serializer::new(String::new()).extend_pairs(&left).finish();
        Ok(Self { left, filters: BTreeMap::new(), canonical, operation: None })
    }

    /// Assigns the parameters to this operation.
    #[must_use]
    pub(super) fn of(mut self, operation: &'static Operation) -> Self {
        self.operation = Some(operation);
        self
    }

    /// Removes a parameter. The operation must declare every parameter that is read.
    fn remove(&mut self, name: &str) -> Option<String> {
        debug_assert!(
            self.operation.is_none_or(|operation| operation.takes(name)),
            "an operation reads the parameter {name} and does not declare it"
        );
        self.left.remove(name)
    }

    /// All parameters, sorted by name and encoded canonically: part of an idempotency fingerprint.
    #[must_use]
    pub fn canonical(&self) -> &str {
        &self.canonical
    }

    /// `limit`: a decimal integer from 1 to 100.
    ///
    /// # Errors
    /// `invalid_parameter`; out of range is not clamped, because a client that stops on "fewer than I asked for"
    /// would lose data.
    pub fn limit(&mut self, default: u16) -> Result<u16> {
        let Some(text) = self.remove("limit") else { return Ok(default) };
        // Only the canonical form: no sign, no leading zero.
        let canonical = |limit: &u16| (1..=LIMIT_MAX).contains(limit) && limit.to_string() == text;
        let limit = text.parse().ok().filter(canonical);
        limit.ok_or_else(|| {
            invalid("limit", "Must be a decimal integer from 1 to 100, without a zero in front.")
        })
    }

    /// `cursor`, as received; `None` or an empty one means from the start.
    pub fn cursor(&mut self) -> Option<String> {
        self.remove("cursor").filter(|cursor| !cursor.is_empty())
    }

    /// Refuses the parameters that were not taken.
    ///
    /// # Errors
    /// `unknown_parameter`, naming the first.
    pub fn finish(self) -> Result<Filter> {
        if let Some(name) = self.left.into_keys().next() {
            return Err(Refusal::new(
                ErrorCode::UnknownParameter,
                "This operation does not define this parameter.",
            )
            .param(name));
        }
        Ok(Filter(form_urlencoded::Serializer::new(String::new()).extend_pairs(&self.filters).finish()))
    }
}

impl TakeParameter for Query {
    fn take<V: ParameterValue>(&mut self, name: &'static str) -> Result<V> {
        let Some(text) = self.remove(name) else { return Ok(V::default()) };
        let (value, canonical) = V::read(&text).map_err(|detail| invalid(name, detail))?;
        self.filters.insert(name.to_owned(), canonical);
        Ok(value)
    }
}

/// The canonical filter string of a list request: equal for filters that select the same rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filter(String);

impl Filter {
    /// The string that cursors are bound to; empty without a filter. A list below another record (the shipments of
    /// an order) also binds its cursors to that record: `within` is its id.
    #[must_use]
    pub fn within(&self, parent: &str) -> String {
        let mut text = form_urlencoded::Serializer::new(self.0.clone());
        text.append_pair("", parent).finish()
    }

    /// The string that cursors are bound to; empty without a filter.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Decodes one name or value of `application/x-www-form-urlencoded`. `None` when a `%` begins no escape or the
/// bytes are not UTF-8: ambiguous text is refused.
fn decode(text: &str) -> Option<String> {
    let mut rest = text.as_bytes();
    while let Some(at) = rest.iter().position(|byte| *byte == b'%') {
        let escape = rest.get(at + 1..at + 3)?;
        if !escape.iter().all(u8::is_ascii_hexdigit) {
            return None;
        }
        rest = rest.get(at + 3..)?;
    }
    percent_decode_str(&text.replace('+', " ")).decode_utf8().ok().map(std::borrow::Cow::into_owned)
}

fn malformed(name: &str) -> Refusal {
    invalid(name, "The query string is not well-formed percent-encoded UTF-8.")
}

fn invalid(name: &str, detail: impl Into<String>) -> Refusal {
    Refusal::new(ErrorCode::InvalidParameter, detail).param(name)
}

#[cfg(test)]
mod tests;
