//! The port of commerce, handed on to one file per aggregate.

use async_trait::async_trait;
use authority_domain::checkout::Checkout;
use authority_domain::id::{CheckoutId, MerchantId, PaymentId, ShipmentId};
use authority_domain::list_filter::OrderFilter;
use authority_domain::order::Order;
use authority_domain::order_number::OrderNumber;
use authority_domain::payment::Payment;
use authority_domain::shipment::Shipment;
use authority_domain::tenant::Tenant;
use authority_domain::time::Timestamp;

use super::{Session, checkouts, orders, payments, shipments};
use crate::StoreError;
use crate::ports::{Commerce, ProcessorMessage, StoredOrder};

#[async_trait]
impl Commerce for Session<'_> {
    async fn order_number_next(&mut self, tenant: &Tenant) -> Result<i64, StoreError> {
        orders::number_next(self.conn, tenant).await
    }

    async fn checkout_get(
        &mut self,
        tenant: &Tenant,
        id: &CheckoutId,
    ) -> Result<Option<Checkout>, StoreError> {
        checkouts::get(self.conn, tenant, id).await
    }

    async fn checkout_put(&mut self, merchant: &MerchantId, checkout: &Checkout) -> Result<(), StoreError> {
        checkouts::put(self.conn, merchant, checkout).await
    }

    async fn payment_get(&mut self, tenant: &Tenant, id: &PaymentId) -> Result<Option<Payment>, StoreError> {
        payments::get(self.conn, tenant, id).await
    }

    async fn payment_find(&mut self, id: &PaymentId) -> Result<Option<(Tenant, Payment)>, StoreError> {
        payments::find(self.conn, id).await
    }

    async fn payments_of_order(
        &mut self,
        tenant: &Tenant,
        order: &OrderNumber,
    ) -> Result<Vec<Payment>, StoreError> {
        payments::of_order(self.conn, tenant, order).await
    }

    async fn payment_open_on(&mut self, tenant: &Tenant, checkout: &CheckoutId) -> Result<bool, StoreError> {
        payments::open_on(self.conn, tenant, checkout).await
    }

    async fn payment_put(&mut self, merchant: &MerchantId, payment: &Payment) -> Result<(), StoreError> {
        payments::put(self.conn, merchant, payment).await
    }

    async fn processor_report_claim(
        &mut self,
        processor: &str,
        message: ProcessorMessage,
        processor_event_id: &str,
        payment: &PaymentId,
        now: Timestamp,
    ) -> Result<Option<PaymentId>, StoreError> {
        payments::report_claim(self.conn, processor, message, processor_event_id, payment, now).await
    }

    async fn processor_report_get(
        &mut self,
        processor: &str,
        message: ProcessorMessage,
        processor_event_id: &str,
    ) -> Result<Option<PaymentId>, StoreError> {
        payments::report_get(self.conn, processor, message, processor_event_id).await
    }

    async fn order_get(
        &mut self,
        tenant: &Tenant,
        number: &OrderNumber,
    ) -> Result<Option<Order>, StoreError> {
        orders::get(self.conn, tenant, number).await
    }

    async fn order_body(
        &mut self,
        tenant: &Tenant,
        number: &OrderNumber,
    ) -> Result<Option<(String, i64)>, StoreError> {
        orders::body(self.conn, tenant, number).await
    }

    async fn orders_page(
        &mut self,
        tenant: &Tenant,
        filter: &OrderFilter,
        before: Option<i64>,
        limit: i64,
    ) -> Result<Vec<StoredOrder>, StoreError> {
        orders::page(self.conn, tenant, filter, before, limit).await
    }

    async fn order_put(&mut self, merchant: &MerchantId, order: &Order) -> Result<(), StoreError> {
        orders::put(self.conn, merchant, order).await
    }

    async fn order_place(
        &mut self,
        tenant: &Tenant,
        number: &OrderNumber,
        first_sequence: i64,
        last_sequence: i64,
    ) -> Result<(), StoreError> {
        orders::place(self.conn, tenant, number, first_sequence, last_sequence).await
    }

    async fn shipment_body(
        &mut self,
        tenant: &Tenant,
        id: &ShipmentId,
    ) -> Result<Option<(String, i64)>, StoreError> {
        shipments::body(self.conn, tenant, id).await
    }

    async fn shipments_of_order(
        &mut self,
        tenant: &Tenant,
        order: &OrderNumber,
    ) -> Result<Vec<Shipment>, StoreError> {
        shipments::of_order(self.conn, tenant, order).await
    }

    async fn shipment_by_key(&mut self, tenant: &Tenant, key: &str) -> Result<Option<Shipment>, StoreError> {
        shipments::by_key(self.conn, tenant, key).await
    }

    async fn shipment_put(&mut self, merchant: &MerchantId, shipment: &Shipment) -> Result<(), StoreError> {
        shipments::put(self.conn, merchant, shipment).await
    }

    async fn shipment_keep_key(
        &mut self,
        tenant: &Tenant,
        id: &ShipmentId,
        key: &str,
    ) -> Result<(), StoreError> {
        shipments::keep_key(self.conn, tenant, id, key).await
    }
}
