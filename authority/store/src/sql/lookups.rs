//! Lookups: rows that are found by their keys, any number of them and several kinds at once.
//!
//! Each kind of key is declared once ([`Lookup`]), and each kind of row that it finds ([`Select`]). All rows have the
//! same columns, so that one statement can return every kind: PostgreSQL answers all lookups of a prefetch in one round
//! trip (`batch::look_up`), with a text that does not depend on the keys. SQLite has no round trips, and gets a
//! statement for each lookup.

use authority_domain::id::MerchantId;
use authority_domain::tenant::Tenant;
use sqlx::{Error, Row as _};

use super::rows::{Kind, Value};
use super::{DbRow, Session, batch};
use crate::StoreError;

/// How many texts, and how many numbers, a row has at most.
const TEXTS: usize = 7;
const NUMBERS: usize = 2;

/// The column of the first number, from 1, by which the rows of a part are ordered.
const FIRST_NUMBER: usize = 3 + TEXTS + 1;

/// Keys of one kind, and what they find. The keys are rows `t (column1, …)`.
pub(super) struct Lookup {
    /// The types of a key's columns.
    pub(super) key: &'static [Kind],
    pub(super) selects: &'static [Select],
}

/// Rows of one kind. They are joined in the order in which they are written: SQLite would else walk a whole table to
/// look for each row among the few keys.
pub(super) struct Select {
    pub(super) part: Part,
    /// An expression that is true or false.
    pub(super) flag: &'static str,
    /// An expression of bytes, or `NULL`.
    pub(super) bytes: &'static str,
    pub(super) texts: &'static [&'static str],
    pub(super) numbers: &'static [&'static str],
    /// What follows `FROM t CROSS JOIN`.
    pub(super) from: &'static str,
}

/// What a row is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
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
pub(super) struct Asked {
    pub(super) lookup: &'static Lookup,
    pub(super) keys: Vec<Vec<Value>>,
}

impl Asked {
    pub(super) fn new<const N: usize>(
        lookup: &'static Lookup,
        keys: impl IntoIterator<Item = [Value; N]>,
    ) -> Self {
        Self { lookup, keys: keys.into_iter().map(Vec::from).collect() }
    }
}

/// The text of a lookup: its selects from the keys `from`.
pub(super) fn text(lookup: &Lookup, from: &str) -> String {
    let selects: Vec<_> = lookup.selects.iter().map(|select| select.text(from)).collect();
    selects.join(" UNION ALL ")
}

/// The end of a statement of lookups.
pub(super) fn order() -> String {
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
pub(super) struct Found(pub(super) DbRow);

impl Found {
    pub(super) fn part(&self) -> Result<Part, StoreError> {
        let number: i64 = self.0.try_get(0)?;
        let part = usize::try_from(number).ok().and_then(|number| Part::ALL.get(number).copied());
        part.ok_or_else(|| StoreError::Broken(format!("a lookup has no part {number}")))
    }

    /// Whose row it is, where the flag is the mode and the first text the merchant.
    pub(super) fn tenant(&self) -> Result<Tenant, Error> {
        Ok(Tenant { merchant_id: MerchantId::from_store(self.text(0)?), livemode: self.flag()? })
    }

    pub(super) fn flag(&self) -> Result<bool, Error> {
        self.0.try_get(1)
    }

    pub(super) fn bytes(&self) -> Result<Vec<u8>, Error> {
        self.0.try_get(2)
    }

    pub(super) fn text(&self, nth: usize) -> Result<String, Error> {
        self.0.try_get(3 + nth)
    }

    pub(super) fn optional_text(&self, nth: usize) -> Result<Option<String>, Error> {
        self.0.try_get(3 + nth)
    }

    pub(super) fn number(&self, nth: usize) -> Result<i64, Error> {
        self.0.try_get(3 + TEXTS + nth)
    }

    pub(super) fn optional_number(&self, nth: usize) -> Result<Option<i64>, Error> {
        self.0.try_get(3 + TEXTS + nth)
    }
}

impl Session<'_> {
    /// Finds what these lookups ask for, and sees rows that are buffered under the keys `about`.
    pub(super) async fn look_up(
        &mut self,
        asked: &[Asked],
        about: &[String],
    ) -> Result<Vec<Found>, StoreError> {
        let rows = batch::look_up(self.conn.about(about).await?, asked).await?;
        Ok(rows.into_iter().map(Found).collect())
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
