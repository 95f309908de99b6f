//! What is read from more than one kind of row: times, tenants, words of a closed list, and records as stored text.

use authority_domain::id::MerchantId;
use authority_domain::tenant::Tenant;
use authority_domain::time::Timestamp;
use serde::de::DeserializeOwned;

use crate::driver::Row;
use crate::{Result, StoreError};

impl Row {
    /// A time, which is stored as milliseconds since the Unix epoch.
    pub(crate) fn time(&self, column: &str) -> Result<Timestamp> {
        Ok(Timestamp::from_ms(self.get(column)?))
    }

    /// A time that may be missing.
    pub(crate) fn optional_time(&self, column: &str) -> Result<Option<Timestamp>> {
        Ok(self.get::<Option<i64>>(column)?.map(Timestamp::from_ms))
    }

    /// Whose the row is; it has `merchant_id` and `livemode`.
    pub(crate) fn tenant(&self) -> Result<Tenant> {
        let merchant_id = MerchantId::from_store(self.get("merchant_id")?);
        Ok(Tenant { merchant_id, livemode: self.get("livemode")? })
    }

    /// A value that is stored as text.
    pub(crate) fn record<T: DeserializeOwned>(&self, column: &str) -> Result<T> {
        Ok(serde_json::from_str(self.get(column)?)?)
    }

    /// A word of a closed list; `place` is the table and the column.
    pub(crate) fn word<T>(&self, place: &str, parse: impl Fn(&str) -> Option<T>) -> Result<T> {
        let unknown = || StoreError::Broken(format!("{place} holds no word"));
        self.optional_word(place, parse)?.ok_or_else(unknown)
    }

    /// A word that may be missing.
    pub(crate) fn optional_word<T>(
        &self,
        place: &str,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Result<Option<T>> {
        let column = place.rsplit('.').next().unwrap_or(place);
        let unknown = || StoreError::Broken(format!("{place} holds an unknown word"));
        self.get::<Option<&str>>(column)?.map(|word| parse(word).ok_or_else(unknown)).transpose()
    }
}
