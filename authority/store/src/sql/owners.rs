//! Whose a record is.

use async_trait::async_trait;
use authority_domain::id::MerchantId;
use authority_domain::tenant::Tenant;

use super::Session;
use crate::StoreError;
use crate::ports::{OwnedRecord, Owners};

#[async_trait]
impl Owners for Session<'_> {
    async fn owner_of(&mut self, record: &OwnedRecord) -> Result<Option<Tenant>, StoreError> {
        let (statement, id) = match record {
            OwnedRecord::Checkout(id) => {
                ("SELECT merchant_id, livemode FROM checkouts WHERE id = $1", id.as_str())
            }
            OwnedRecord::Delivery(id) => {
                ("SELECT merchant_id, livemode FROM deliveries WHERE id = $1", id.as_str())
            }
            OwnedRecord::Payment(id) => {
                ("SELECT merchant_id, livemode FROM payments WHERE id = $1", id.as_str())
            }
            OwnedRecord::Subscription(id) => {
                ("SELECT merchant_id, livemode FROM subscriptions WHERE id = $1", id.as_str())
            }
        };
        let row: Option<(String, bool)> =
            sqlx::query_as(statement).bind(id).fetch_optional(&mut *self.conn).await?;
        Ok(row.map(|(merchant, livemode)| Tenant { merchant_id: MerchantId::from_store(merchant), livemode }))
    }
}
