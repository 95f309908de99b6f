//! Lookups: rows that are found by their keys, any number of them and several kinds at once.
//!
//! Each kind of key is declared once ([`Lookup`]), and each kind of row that it finds ([`Select`]). All rows have the
//! same columns, so that one statement can return every kind: PostgreSQL answers all lookups of a prefetch in one round
//! trip (`batch::look_up`), with a text that does not depend on the keys. SQLite has no round trips, and gets a
//! statement for each lookup.

use authority_domain::{MerchantId, Tenant};

use crate::driver::{Error, Kind, Row, Value};
use crate::error::{Result, StoreError};

/// How many texts, and how many numbers, a row has at most.
const TEXTS: usize = 7;
const NUMBERS: usize = 2;

/// The column of the first number, from 1, by which the rows of a part are ordered.
const FIRST_NUMBER: usize = 3 + TEXTS + 1;

/// Keys of one kind, and what they find. The keys are rows `t (column1, …)`.
pub(crate) struct Lookup {
    /// The types of a key's columns.
    pub(crate) key: &'static [Kind],
    pub(crate) selects: &'static [Select],
}

/// Rows of one kind. They are joined in the order in which they are written: SQLite would else walk a whole table to
/// look for each row among the few keys.
pub(crate) struct Select {
    pub(crate) part: Part,
    /// An expression that is true or false.
    pub(crate) flag: &'static str,
    /// An expression of bytes, or `NULL`.
    pub(crate) bytes: &'static str,
    pub(crate) texts: &'static [&'static str],
    pub(crate) numbers: &'static [&'static str],
    /// What follows `FROM t CROSS JOIN`.
    pub(crate) from: &'static str,
}

/// What a row is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Merchant,
    Answer,
    Counter,
    CheckoutToPay,
    Payment,
    Record,
    Order,
    OrderPayment,
    OpenRefund,
    OrderShipment,
    MarkedLine,
    Message,
    /// A key that is in use.
    Used,
}

impl Part {
    const ALL: [Self; 13] = [
        Self::Merchant,
        Self::Answer,
        Self::Counter,
        Self::CheckoutToPay,
        Self::Payment,
        Self::Record,
        Self::Order,
        Self::OrderPayment,
        Self::OpenRefund,
        Self::OrderShipment,
        Self::MarkedLine,
        Self::Message,
        Self::Used,
    ];
}

/// A lookup with its keys.
pub(crate) struct Asked {
    pub(crate) lookup: &'static Lookup,
    pub(crate) keys: Vec<Vec<Value<'static>>>,
}

impl Asked {
    pub(crate) fn new<'k, const N: usize>(
        lookup: &'static Lookup,
        keys: impl IntoIterator<Item = [Value<'k>; N]>,
    ) -> Self {
        Self { lookup, keys: keys.into_iter().map(|key| key.map(Value::into_owned).into()).collect() }
    }
}

/// The text of a lookup: its selects from the keys `from`.
pub(crate) fn text(lookup: &Lookup, from: &str) -> String {
    let selects: Vec<_> = lookup.selects.iter().map(|select| select.text(from)).collect();
    selects.join(" UNION ALL ")
}

/// The end of a statement of lookups.
pub(crate) fn order() -> String {
    format!(" ORDER BY 1, {FIRST_NUMBER}")
}

impl Select {
    fn text(&self, from: &str) -> String {
        let padded = |written: &[&str], count: usize, kind: &str| -> String {
            let expression = |n| written.get(n).copied().unwrap_or("NULL");
            (0..count).map(|n| format!(", CAST({} AS {kind})", expression(n))).collect()
        };
        let Self { part, flag, bytes, texts, numbers, from: tables } = self;
        let part = *part as i64;
        let (texts, numbers) = (padded(texts, TEXTS, "TEXT"), padded(numbers, NUMBERS, "BIGINT"));
        // A row without bytes must say of which type they are not.
        let bytes = if *bytes == "NULL" { "CAST(NULL AS BYTEA)" } else { bytes };
        format!(
            "SELECT CAST({part} AS BIGINT), {flag}, {bytes}{texts}{numbers} FROM {from} AS t CROSS JOIN {tables}"
        )
    }
}

/// A row that was found.
pub(crate) struct Found(pub(crate) Row);

impl Found {
    pub(crate) fn part(&self) -> Result<Part> {
        let number: i64 = self.0.get(0)?;
        let part = usize::try_from(number).ok().and_then(|number| Part::ALL.get(number).copied());
        part.ok_or_else(|| StoreError::Broken(format!("a lookup has no part {number}")))
    }

    /// Whose row it is, where the flag is the mode and the first text the merchant.
    pub(crate) fn tenant(&self) -> Result<Tenant, Error> {
        Ok(Tenant { merchant_id: MerchantId::from_store(self.text(0)?), livemode: self.flag()? })
    }

    pub(crate) fn flag(&self) -> Result<bool, Error> {
        self.0.get(1)
    }

    pub(crate) fn bytes(&self) -> Result<Vec<u8>, Error> {
        self.0.get(2)
    }

    pub(crate) fn text(&self, nth: usize) -> Result<String, Error> {
        self.0.get(3 + nth)
    }

    pub(crate) fn optional_text(&self, nth: usize) -> Result<Option<String>, Error> {
        self.0.get(3 + nth)
    }

    pub(crate) fn number(&self, nth: usize) -> Result<i64, Error> {
        self.0.get(3 + TEXTS + nth)
    }

    pub(crate) fn optional_number(&self, nth: usize) -> Result<Option<i64>, Error> {
        self.0.get(3 + TEXTS + nth)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_read_as_it_was_written() {
        for (number, part) in Part::ALL.into_iter().enumerate() {
            assert_eq!(part as usize, number);
        }
    }
}
