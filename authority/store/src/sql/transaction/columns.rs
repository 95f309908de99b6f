//! What is read from more than one kind of row: ids, times, tenants, words of a closed list, records as stored text.

use std::convert::identity;

use authority_domain::{
    AlertId, AttemptId, AuditId, CheckoutId, CheckpointId, ConnectionId, DeliveryId, EndpointId, EventId,
    KeyId, LineItemId, MerchantId, OrderNumber, PortalSessionId, RecoveryId, RequestId, ShareId,
    SubscriptionId, Tenant, Timestamp,
};
use serde::de::DeserializeOwned;

use crate::driver::{Error, FromRow, Row};
use crate::error::{Result, StoreError};

/// A type that a column is read as wherever a record has it.
pub(crate) trait Stored: Sized {
    fn of(row: &Row, column: &str) -> Result<Self>;
}

/// Says for each type which column holds it and what makes it of that; likewise where it may be missing.
macro_rules! stored {
    ($($type:ty: $column:ty, $made:expr;)+) => {$(
        impl Stored for $type {
            fn of(row: &Row, column: &str) -> Result<Self> {
                Ok($made(row.get::<$column>(column)?))
            }
        }

        impl Stored for Option<$type> {
            fn of(row: &Row, column: &str) -> Result<Self> {
                Ok(row.get::<Option<$column>>(column)?.map($made))
            }
        }
    )+};
    (ids: $($id:ident),+) => {
        stored! { $($id: String, $id::from_store;)+ }

        $(impl FromRow for $id {
            fn from_row(row: Row) -> Result<Self, Error> {
                Ok($id::from_store(row.get(0)?))
            }
        })+
    };
}

stored! {
    bool: bool, identity;
    i64: i64, identity;
    String: String, identity;
    Vec<u8>: Vec<u8>, identity;
    Timestamp: i64, Timestamp::from_ms;
}
stored!(ids: AlertId, AttemptId, AuditId, CheckoutId, CheckpointId, ConnectionId, DeliveryId, EndpointId, EventId);
stored!(ids: KeyId, LineItemId, MerchantId, OrderNumber, PortalSessionId, RecoveryId, RequestId, ShareId);
stored!(ids: SubscriptionId);

/// A record of a row: first the fields that are read from the columns of their names, then what is said of the others.
macro_rules! fields {
    ($row:ident => $record:ident { $($column:ident),+ $(; $($others:tt)+)? }) => {
        $record {
            $($column: $row.read(stringify!($column))?,)+
            $($($others)+)?
        }
    };
}
pub(crate) use fields;

impl Row {
    /// A value of a type that has its own form in columns: a time is stored as milliseconds since the Unix epoch.
    pub(crate) fn read<T: Stored>(&self, column: &str) -> Result<T> {
        T::of(self, column)
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
