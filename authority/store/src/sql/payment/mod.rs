//! Payments.

pub(crate) mod processor_reports;

use authority_domain::list_filter::{AllPaymentsFilter, PaymentFilter};
use authority_domain::{
    CheckoutId, MerchantId, OrderNumber, Payment, PaymentId, Refund, SubscriptionId, Tenant,
};

use crate::sql::transaction::keys::{NUMBERS_START_ABOVE, counter_key, order_key};
use crate::sql::transaction::lookup_kinds::PAYMENTS as PAYMENTS_BY_ID;
use crate::sql::transaction::lookups::{Asked, Found};
use crate::sql::transaction::pages::{Page, SequenceRange};
use crate::sql::transaction::transaction_cache::FoundCheckout;
use crate::sql::{
    Across, Form, Query, Result, Row, Shard, ShardSet, Table, TableOrder, Together, Touches, Tx, bodies,
    columns, newer, query, row, upsert,
};

/// A payment as the operator side reads it.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct FoundPayment {
    pub tenant: Tenant,
    pub payment: Payment,
}

/// A version of a payment. Its `amount_refund_pending` changes only when a refund is completed; see [`RESERVATIONS`].
pub(crate) static PAYMENTS: Table = Table {
    order: TableOrder::Payment,
    touches: Touches::Each("payment"),
    columns: columns!("payments":
        shard Shard, id Text, merchant_id Text, livemode Bool, status Text, checkout_id Text, order_number Text,
        currency Text, amount Int, amount_authorized Int, amount_captured Int, amount_refunded Int,
        amount_refund_pending Int, resource_version Int, created_at Int, body Text, subscription_id Text,
        created_sequence Int, late Bool),
    form: Form::Insert,
    rest: upsert!("shard, id": status, order_number, subscription_id, amount_authorized, amount_captured,
        amount_refunded, amount_refund_pending, resource_version, late, body;
        concat!(newer!("payments"), " AND (payments.amount_refund_pending = excluded.amount_refund_pending \
            OR payments.amount_refunded < excluded.amount_refunded)")),
    together: Together::Apart,
};

/// The sum of a payment's open refunds. The status is looked at in the sum and not in the condition: otherwise the
/// planner may read all open refunds of all merchants, by the index of those, as long as it knows of few.
macro_rules! reserved {
    () => {
        "( \
             SELECT COALESCE(SUM(CASE WHEN r.status IN ('requested', 'processing') THEN r.amount END), 0) FROM refunds r \
             WHERE r.shard = payments.shard AND r.payment_id = payments.id AND r.merchant_id = payments.merchant_id \
                 AND r.livemode = payments.livemode)"
    };
}

/// What open refunds reserve of a payment, computed from their rows: whatever a use case computed, the schema's rule
/// (I2) checks what is stored. With a body, the payment is stated anew, which must show the same sum.
pub(crate) static RESERVATIONS: Table = Table {
    order: TableOrder::RefundReservation,
    touches: Touches::Each("payment of a refund"),
    columns: columns!(into concat!(
        "UPDATE payments SET body = COALESCE(v.column4, payments.body), amount_refund_pending = ", reserved!());
        Text, Text, Bool, Text, Int, Int, Shard),
    form: Form::Update,
    rest: concat!(
        "WHERE payments.shard = v.column7 AND payments.id = v.column1 AND payments.merchant_id = v.column2 \
             AND payments.livemode = v.column3 \
             AND (v.column4 IS NULL OR payments.resource_version = v.column5 AND v.column6 = ",
        reserved!(),
        ")"
    ),
    together: Together::Replaced,
};

/// The key under which what belongs to a payment's order is buffered.
fn order_of(merchant: &MerchantId, payment: &Payment) -> Option<String> {
    payment.order_number.as_ref().map(|number| order_key(merchant, payment.livemode, number))
}

/// The condition of the indexes of late payments, word for word.
fn push_late(query: &mut Query<'_>, late: Option<bool>) {
    match late {
        Some(true) => query.push(" AND late"),
        Some(false) => query.push(" AND NOT late"),
        None => query,
    };
}

impl Tx {
    /// Computes anew what is reserved of the payment of a refund that is written.
    pub(crate) fn reserve(&mut self, merchant: &MerchantId, refund: &Refund) {
        let order = refund.order_number.as_ref().map(|number| order_key(merchant, refund.livemode, number));
        let (none, version): (Option<&str>, Option<i64>) = (None, None);
        self.conn.buffer(
            &RESERVATIONS,
            [refund.payment_id.to_string()].into_iter().chain(order),
            row!(
                refund.payment_id.as_str(), merchant.as_str(), refund.livemode, none, version, version;
                Shard::of(merchant)),
        );
    }

    /// Caches the records that were read with a payment.
    pub(crate) fn note_around(&mut self, tenant: &Tenant, row: &Found) -> Result<()> {
        if !self.conn.cache.merchants.contains_key(&tenant.merchant_id) {
            self.conn.note_merchant(&serde_json::from_str(&row.text(6)?)?);
        }
        if let (Some(id), Some(body)) = (row.optional_text(3)?, row.optional_text(4)?) {
            let terms = row.optional_text(5)?;
            self.conn.note_checkout(id, FoundCheckout { tenant: tenant.clone(), body, terms });
        }
        let last_number = row.optional_number(0)?.unwrap_or(NUMBERS_START_ABOVE);
        self.conn.note_counter(tenant, &counter_key(tenant), last_number);
        Ok(())
    }

    /// One payment, as the tenant sees it.
    pub async fn payment_get(&mut self, tenant: &Tenant, id: &PaymentId) -> Result<Option<Payment>> {
        let found = self.payment_body(tenant, id).await?;
        Ok(found.map(|(body, _)| serde_json::from_str(&body)).transpose()?)
    }

    /// One payment as stored text, with its version.
    pub async fn payment_body(&mut self, tenant: &Tenant, id: &PaymentId) -> Result<Option<(String, i64)>> {
        let statement = "SELECT body, resource_version FROM payments WHERE shard = $1 AND merchant_id = $2 AND livemode = $3 AND id = $4";
        bodies::found(&mut self.conn, query(statement), tenant, id.as_str()).await
    }

    /// One payment and its tenant, as the operator's paths name it.
    pub async fn payment_find(&mut self, id: &PaymentId) -> Result<Option<(Tenant, Payment)>> {
        if let Some(known) = self.conn.cache.records.get(id.as_str()) {
            return known
                .as_ref()
                .map(|found| Ok((found.tenant.clone(), serde_json::from_str(&found.body)?)))
                .transpose();
        }
        // What a report reads of a payment is found by its shard, of which there is one where a report is read.
        let asked = self.conn.shards().all().map(|shard| [id.as_str().into(), shard.into()]);
        let asked = [Asked::new(&PAYMENTS_BY_ID, asked)];
        let Some(row) = self.conn.look_up(&asked, &[id.to_string()]).await?.pop() else { return Ok(None) };
        let tenant = row.tenant()?;
        let payment: Payment = serde_json::from_str(&row.text(2)?)?;
        self.note_around(&tenant, &row)?;
        Ok(Some((tenant, payment)))
    }

    /// One payment and its tenant, without what stands around it.
    pub async fn payment_owned(&mut self, id: &PaymentId) -> Result<Option<(Tenant, Payment)>> {
        let query =
            bodies::by_id(&self.conn, "SELECT merchant_id, livemode, body FROM payments", id.as_str());
        query.read_optional_as(&mut self.conn, |row| Ok((row.tenant()?, row.record("body")?))).await
    }

    /// All payments of an order, oldest first.
    pub async fn payments_of_order(&mut self, tenant: &Tenant, order: &OrderNumber) -> Result<Vec<Payment>> {
        let around = self.order_surroundings(tenant, order).await?;
        Ok(around.payments.iter().map(|body| serde_json::from_str(body)).collect::<Result<_, _>>()?)
    }

    /// Up to `limit` payments before `before` (newest first; `None` from the newest), as stored text.
    pub async fn payments_page(
        &mut self,
        tenant: &Tenant,
        filter: &PaymentFilter,
        before: Option<i64>,
        limit: i64,
    ) -> Result<Page<String>> {
        let narrow = |query: &mut Query<'_>| {
            query.push_some(" AND order_number = ", filter.order_number.clone());
            push_late(query, filter.late.filter(|late| *late));
        };
        let filters = |query: &mut Query<'_>| {
            push_late(query, filter.late.filter(|late| !late));
            query.push_in("status", &filter.status);
            bodies::push_created(query, filter.created_from, filter.created_to);
        };
        bodies::page(&mut self.conn, "payments", (tenant, before), narrow, filters, limit).await
    }

    /// Up to `limit` payments of all merchants before the one with the id `before`, newest first.
    pub async fn payments_everywhere(
        &mut self,
        filter: &AllPaymentsFilter,
        before: Option<&str>,
        limit: i64,
    ) -> Result<Vec<FoundPayment>> {
        let mut query =
            Query::across(Across::OPERATOR, "SELECT merchant_id, livemode, body FROM payments WHERE ");
        // Late ones have an index of their own.
        match filter.late {
            Some(true) => query.push("TRUE"),
            _ => query.push_shards("", ShardSet::ALL),
        };
        push_late(&mut query, filter.late);
        query.push_in("status", &filter.status);
        query.push_some(" AND id < ", before);
        query.push(" ORDER BY id DESC LIMIT ").push_bind(limit);
        let found = |row: &Row| Ok(FoundPayment { tenant: row.tenant()?, payment: row.record("body")? });
        query.read_as(&mut self.conn, found).await
    }

    /// The attempt on the checkout that is still under way; there is at most one.
    pub async fn payment_open_on(
        &mut self,
        tenant: &Tenant,
        checkout: &CheckoutId,
    ) -> Result<Option<Payment>> {
        let statement = "SELECT body FROM payments WHERE shard = $1 AND merchant_id = $2 AND livemode = $3 AND checkout_id = $4 \
             AND status IN ('created', 'pending', 'authorized')";
        bodies::record(&mut self.conn, query(statement), tenant, checkout.as_str()).await
    }

    /// Rewrites a payment under its current version, because what its open refunds reserve has changed (contract
    /// 3.6). Refuses another version, and a text whose `amount_refund_pending` is not the sum of the stored refunds.
    pub async fn payment_restate(&mut self, tenant: &Tenant, payment: &Payment) -> Result<()> {
        let body = serde_json::to_string(payment)?;
        self.conn.buffer(
            &RESERVATIONS,
            [payment.id.to_string()].into_iter().chain(order_of(&tenant.merchant_id, payment)),
            row!(
                payment.id.as_str(), tenant.merchant_id.as_str(), tenant.livemode, body;
                payment.resource_version, payment.amount_refund_pending, Shard::of(&tenant.merchant_id)),
        );
        Ok(())
    }

    /// Writes a version of a payment. Its `amount_refund_pending` must be the sum of the stored refunds.
    pub async fn payment_put(
        &mut self,
        merchant: &MerchantId,
        payment: &Payment,
        places: SequenceRange,
    ) -> Result<()> {
        let body = serde_json::to_string(payment)?;
        let checkout = payment.checkout_id.as_ref().map(CheckoutId::as_str);
        let order = payment.order_number.as_ref().map(OrderNumber::as_str);
        self.conn.buffer(
            &PAYMENTS,
            [payment.id.as_str()]
                .into_iter()
                .chain(checkout)
                .map(str::to_owned)
                .chain(order_of(merchant, payment)),
            row!(
                Shard::of(merchant), payment.id.as_str(), merchant.as_str(), payment.livemode;
                payment.status.as_str(), checkout;
                order, payment.currency.as_str(), payment.amount, payment.amount_authorized;
                payment.amount_captured, payment.amount_refunded, payment.amount_refund_pending;
                payment.resource_version, payment.created_at.as_ms(), body;
                payment.subscription_id.as_ref().map(SubscriptionId::as_str), places.first, payment.late),
        );
        Ok(())
    }
}
