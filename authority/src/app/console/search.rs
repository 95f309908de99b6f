//! Search by anything that an operator is told on the phone: an order number, the id of any record, a merchant's slug,
//! an external reference, a customer reference, a tracking number, a processor's reference.

use authority_domain::list_filter::MerchantFilter;
use authority_domain::{
    AlertId, AlertStatus, AttemptId, Author, CheckoutId, CheckpointId, ConnectionId, DeliveryId, EndpointId,
    EventId, KeyId, MerchantId, PaymentId, RecoveryId, RefundId, Refusal, Result, ShareId, ShipmentId,
    SubscriptionId, Tenant,
};
use authority_store::StoreError;
use authority_store::tx::{MatchedName, NamedRecord, SideRecord};
use serde_json::Value;

use super::authors::is_known;
use crate::app::App;

/// Records of each kind of name.
const FOUND_MAX: i64 = 20;

/// Something that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// An order, or a record that belongs to one.
    OfOrder {
        /// Whose it is.
        tenant: Tenant,
        /// The order's number.
        number: String,
        /// The record that was looked for; the number again when it was the order.
        id: String,
        /// The name that matched; `None` when it was the id.
        by: Option<MatchedName>,
    },
    /// A record without an order.
    Record {
        /// Its id.
        id: String,
        /// The name that matched; `None` when it was the id.
        by: Option<MatchedName>,
    },
    /// An event.
    Event(EventId),
    /// A delivery.
    Delivery(DeliveryId),
    /// A webhook endpoint.
    Endpoint(EndpointId),
    /// A recovery of an endpoint, which is shown there.
    Recovery(EndpointId, RecoveryId),
    /// A merchant, or a record that is shown nowhere but beside it.
    Merchant(MerchantId),
    /// An alert.
    Alert(AlertStatus),
    /// Who writes: an operator's key, or a session of the portal.
    Author(Author),
}

/// A record of any merchant that has no page of its own.
#[derive(Clone, Debug)]
pub struct ShownRecord {
    /// Whose it is.
    pub tenant: Tenant,
    /// As it is stored.
    pub record: Value,
}

impl App {
    /// Everything that has this id or name, exactly.
    pub async fn search(&self, text: &str) -> Result<Vec<Found>> {
        let text = text.trim().to_owned();
        if let Some(found) = self.found_by_id(&text).await? {
            return Ok(vec![found]);
        }
        let slug = MerchantFilter { slug: Some(text.clone()), ..MerchantFilter::default() };
        let (merchants, named) = self
            .read_list(async move |tx| {
                let merchants = tx.merchants_page(&slug, None, 1).await?;
                Ok::<_, StoreError>((merchants, tx.records_named(&text, FOUND_MAX).await?))
            })
            .await?;
        let merchants = merchants.into_iter().map(|merchant| Found::Merchant(merchant.id));
        let records = named.into_iter().map(|found| match found.order_number {
            Some(number) => Found::OfOrder { tenant: found.tenant, number, id: found.id, by: Some(found.by) },
            None => Found::Record { id: found.id, by: Some(found.by) },
        });
        Ok(merchants.chain(records).collect())
    }

    async fn found_by_id(&self, text: &str) -> Result<Option<Found>> {
        if let Some(id) = EventId::parse(text) {
            return Ok(exists(self.event_find(id.clone()).await)?.map(|()| Found::Event(id)));
        }
        if let Some(id) = DeliveryId::parse(text) {
            return Ok(exists(self.delivery_find(id.clone()).await)?.map(|()| Found::Delivery(id)));
        }
        if let Some(id) = EndpointId::parse(text) {
            return Ok(exists(self.endpoint_find(id.clone()).await)?.map(|()| Found::Endpoint(id)));
        }
        if let Some(id) = MerchantId::parse(text) {
            return Ok(exists(self.merchant_get(id.clone()).await)?.map(|()| Found::Merchant(id)));
        }
        if let Some(id) = AttemptId::parse(text) {
            let found = self.read(async move |tx| tx.delivery_of_attempt(&id).await);
            return Ok(found.await?.map(Found::Delivery));
        }
        if let Some(id) = RecoveryId::parse(text) {
            let of = id.clone();
            let endpoint = self.read(async move |tx| tx.endpoint_of_recovery(&of).await).await?;
            return Ok(endpoint.map(|endpoint| Found::Recovery(endpoint, id)));
        }
        if let Some(found) = self.found_by_owner(text).await? {
            return Ok(Some(found));
        }
        let Some(ShownRecord { tenant, record }) = self.record_find(text).await? else { return Ok(None) };
        let id = text.to_owned();
        // A subscription is no part of the newest of its orders, and has a page of its own.
        Ok(Some(match record.get("order_number").and_then(Value::as_str) {
            Some(number) => Found::OfOrder { tenant, number: number.to_owned(), id, by: None },
            None => Found::Record { id, by: None },
        }))
    }

    /// What has no page of its own: its merchant, its order, or the list that it is in.
    async fn found_by_owner(&self, text: &str) -> Result<Option<Found>> {
        let alert = AlertId::parse(text);
        let author = Author::parse(text).filter(|author| *author != Author::CommandLine);
        let owned = KeyId::parse(text)
            .map(SideRecord::ApiKey)
            .or_else(|| CheckpointId::parse(text).map(SideRecord::Checkpoint))
            .or_else(|| ConnectionId::parse(text).map(SideRecord::Connection))
            .or_else(|| ShareId::parse(text).map(SideRecord::Share));
        let id = text.to_owned();
        self.read(async move |tx| {
            if let Some(alert) = alert {
                return Ok(tx.alert_status(&alert).await?.map(Found::Alert));
            }
            let owner = match owned {
                Some(record) => tx.side_record_owner(&record).await?,
                None => None,
            };
            Ok(match owner {
                Some((tenant, Some(number))) => Some(Found::OfOrder { tenant, number, id, by: None }),
                Some((tenant, None)) => Some(Found::Merchant(tenant.merchant_id)),
                None => match author {
                    Some(author) if is_known(tx, &author).await? => Some(Found::Author(author)),
                    _ => None,
                },
            })
        })
        .await
    }

    /// A checkout, payment, refund, shipment or subscription of any merchant.
    pub async fn record_find(&self, id: &str) -> Result<Option<ShownRecord>> {
        let named = CheckoutId::parse(id)
            .map(NamedRecord::Checkout)
            .or_else(|| SubscriptionId::parse(id).map(NamedRecord::Subscription))
            .or_else(|| ShipmentId::parse(id).map(NamedRecord::Shipment));
        let (payment, refund) = (PaymentId::parse(id), RefundId::parse(id));
        let found: Option<(Tenant, String)> = self
            .read(async move |tx| {
                if let Some(record) = named {
                    return tx.record_find(&record).await;
                }
                if let Some(id) = payment {
                    let found = tx.payment_owned(&id).await?;
                    return found.map(|(tenant, payment)| text_of(tenant, &payment)).transpose();
                }
                let Some(id) = refund else { return Ok(None) };
                let found = tx.refund_find(&id).await?;
                found.map(|found| text_of(found.tenant, &found.refund)).transpose()
            })
            .await?;
        let Some((tenant, text)) = found else { return Ok(None) };
        let record = serde_json::from_str(&text).map_err(|_| Refusal::internal())?;
        Ok(Some(ShownRecord { tenant, record }))
    }
}

fn text_of(tenant: Tenant, record: &impl serde::Serialize) -> Result<(Tenant, String), StoreError> {
    Ok((tenant, serde_json::to_string(record)?))
}

/// Whether a record was found; any other refusal is passed on.
fn exists<T>(found: Result<T>) -> Result<Option<()>> {
    match found {
        Ok(_) => Ok(Some(())),
        Err(refusal) if refusal.code == authority_domain::error_code::ErrorCode::NotFound => Ok(None),
        Err(refusal) => Err(refusal),
    }
}
