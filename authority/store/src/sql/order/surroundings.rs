//! An order with what belongs to it: its payments, open refunds, shipments and marked lines.
//!
//! Nearly every change to an order is decided on most of these. A transaction reads them once for all of its jobs
//! ([`crate::sql::prefetch`]), and keeps them until a job writes one of them.

use std::collections::HashMap;
use std::sync::Arc;

use authority_domain::{OrderNumber, Tenant};

use crate::sql::transaction::first_reads::orders;
use crate::sql::transaction::keys::order_key;
use crate::sql::transaction::lookups::{Found, Part};
use crate::sql::transaction::transaction_cache::OrderSurroundings;
use crate::sql::{Result, Tx};

impl Tx {
    /// The order with what belongs to it, as it is now.
    pub(crate) async fn order_surroundings(
        &mut self,
        tenant: &Tenant,
        number: &OrderNumber,
    ) -> Result<Arc<OrderSurroundings>> {
        let key = order_key(&tenant.merchant_id, tenant.livemode, number);
        if let Some(known) = self.conn.cache.orders.get(&key) {
            return Ok(Arc::clone(known));
        }
        if self.conn.waits(&key) {
            self.conn.settle().await?;
        }
        let mut found = HashMap::from([(key.clone(), OrderSurroundings::default())]);
        for row in self.conn.look_up(&[orders(std::iter::once((tenant, number)))], &[]).await? {
            add(&mut found, &row)?;
        }
        let around = Arc::new(found.remove(&key).unwrap_or_default());
        if self.conn.is_writing() {
            self.conn.cache.orders.insert(key, Arc::clone(&around));
        }
        Ok(around)
    }
}

/// Adds a row to the order that it belongs to, if that was asked for.
pub(crate) fn add(orders: &mut HashMap<String, OrderSurroundings>, row: &Found) -> Result<()> {
    let tenant = row.tenant()?;
    let number = OrderNumber::from_store(row.text(1)?);
    if let Some(around) = orders.get_mut(&order_key(&tenant.merchant_id, tenant.livemode, &number)) {
        around.add(row)?;
    }
    Ok(())
}

impl OrderSurroundings {
    fn add(&mut self, row: &Found) -> Result<()> {
        let text = row.text(2)?;
        match row.part()? {
            Part::Order => {
                self.confirmed_by_operator = row.number(1)? == 1;
                self.order = Some((text, row.number(0)?));
            }
            Part::OrderPayment => self.payments.push(text),
            Part::OpenRefund => self.open_refunds.push((text, row.number(0)?)),
            Part::OrderShipment => self.shipments.push(text),
            _ => self.marks.push((text, row.number(0)?, row.number(1)?)),
        }
        Ok(())
    }
}
