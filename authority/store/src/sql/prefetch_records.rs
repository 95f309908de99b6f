//! The records that waiting jobs will read, each kind with one statement: checkouts to be paid, payments that
//! processors report about, orders that change, and processors' earlier messages.

use std::collections::BTreeMap;

use authority_domain::order::number::OrderNumber;
use authority_domain::tenant::Tenant;
use sqlx::{QueryBuilder, Row};

use super::first_reads::FirstReads;
use super::payments::WITH_SURROUNDINGS;
use super::prefetch::{WORTH_IT, padded};
use super::transaction_cache::{FoundPayable, FoundRecord};
use super::unused_keys::{REFUNDS, SHIPMENTS};
use super::{Db, Session, bodies};
use crate::StoreError;
use crate::ports::{KnownMessage, MessageId, Prefetch};

impl Session<'_> {
    pub(super) async fn records_ahead(&mut self, jobs: &[&Prefetch]) -> Result<(), StoreError> {
        let mut reads = FirstReads::of(jobs);
        for ids in [&mut reads.checkouts, &mut reads.payments, &mut reads.refunds, &mut reads.shipments] {
            ids.retain(|id| !self.conn.waits(id));
        }
        reads.messages.retain(|key, _| !self.conn.waits(key));
        reads.orders.retain(|key, _| !self.conn.waits(key));
        reads.refund_keys.retain(|key, _| !self.conn.waits(key));
        reads.shipment_keys.retain(|key, _| !self.conn.waits(key));
        self.checkouts_to_pay_ahead(&Vec::from_iter(reads.checkouts)).await?;
        self.payments_ahead(&Vec::from_iter(reads.payments)).await?;
        self.records_of("refunds", &Vec::from_iter(reads.refunds)).await?;
        self.records_of("shipments", &Vec::from_iter(reads.shipments)).await?;
        self.orders_ahead(&Vec::from_iter(reads.orders.into_values())).await?;
        self.numbers_ahead(&reads.numbers).await?;
        self.unused_ahead(REFUNDS, &reads.refund_keys).await?;
        self.unused_ahead(SHIPMENTS, &reads.shipment_keys).await?;
        self.messages_ahead(&reads.messages).await
    }

    async fn checkouts_to_pay_ahead(&mut self, ids: &[&str]) -> Result<(), StoreError> {
        if ids.len() < WORTH_IT {
            return Ok(());
        }
        let mut query = QueryBuilder::<Db>::new(
            "SELECT c.merchant_id, c.livemode, c.id, c.body, EXISTS (SELECT 1 FROM payments p \
                 WHERE p.merchant_id = c.merchant_id AND p.livemode = c.livemode AND p.checkout_id = c.id \
                     AND p.status IN ('created', 'pending', 'authorized')) \
             FROM checkouts c WHERE c.id IN (",
        );
        push_list(&mut query, ids);
        let rows = query.build().fetch_all(self.conn.about(&[]).await?).await?;
        for id in ids {
            self.conn.cache.note_payable((*id).to_owned(), None);
        }
        for row in rows {
            let found = FoundPayable {
                tenant: bodies::tenant(&row)?,
                body: row.try_get(3)?,
                under_way: row.try_get(4)?,
            };
            self.conn.cache.note_payable(row.try_get(2)?, Some(found));
        }
        Ok(())
    }

    async fn payments_ahead(&mut self, ids: &[&str]) -> Result<(), StoreError> {
        if ids.len() < WORTH_IT {
            return Ok(());
        }
        let mut query = QueryBuilder::<Db>::new(WITH_SURROUNDINGS);
        query.push("IN (");
        push_list(&mut query, ids);
        let rows = query.build().fetch_all(self.conn.about(&[]).await?).await?;
        for id in ids {
            self.conn.cache.note_record((*id).to_owned(), None);
        }
        for row in rows {
            let tenant: Tenant = bodies::tenant(&row)?;
            self.note_around(&tenant, &row)?;
            let found = FoundRecord { tenant, body: row.try_get(2)? };
            self.conn.cache.note_record(row.try_get(8)?, Some(found));
        }
        Ok(())
    }

    /// Refunds or shipments.
    async fn records_of(&mut self, table: &'static str, ids: &[&str]) -> Result<(), StoreError> {
        if ids.len() < WORTH_IT {
            return Ok(());
        }
        let mut query = QueryBuilder::<Db>::new("SELECT merchant_id, livemode, body, id FROM ");
        query.push(table).push(" WHERE id IN (");
        push_list(&mut query, ids);
        let rows = query.build().fetch_all(self.conn.about(&[]).await?).await?;
        for id in ids {
            self.conn.cache.note_record((*id).to_owned(), None);
        }
        for row in rows {
            let found = FoundRecord { tenant: bodies::tenant(&row)?, body: row.try_get(2)? };
            self.conn.cache.note_record(row.try_get(3)?, Some(found));
        }
        Ok(())
    }

    async fn orders_ahead(&mut self, orders: &[(&Tenant, &OrderNumber)]) -> Result<(), StoreError> {
        if orders.len() >= WORTH_IT {
            for (key, around) in self.read_orders(orders).await? {
                self.conn.cache.note_order(key, around);
            }
        }
        Ok(())
    }

    async fn messages_ahead(&mut self, messages: &BTreeMap<String, &MessageId>) -> Result<(), StoreError> {
        if messages.len() < WORTH_IT {
            return Ok(());
        }
        // A join: SQLite answers IN over a list of rows by walking the whole table.
        let mut query = QueryBuilder::<Db>::new("SELECT t.column6, r.resource_id, r.said FROM (VALUES ");
        let all: Vec<_> = messages.iter().collect();
        let mut between = "(CAST(";
        for (key, message) in padded(&all) {
            query.push(between).push_bind(message.tenant.merchant_id.as_str().to_owned());
            query.push(" AS TEXT), CAST(").push_bind(message.tenant.livemode).push(" AS BOOLEAN), CAST(");
            query.push_bind(message.processor.as_str()).push(" AS TEXT), CAST(");
            query.push_bind(message.kind.as_str()).push(" AS TEXT), CAST(");
            query.push_bind(message.event_id.as_str()).push(" AS TEXT), CAST(");
            query.push_bind(key.as_str()).push(" AS TEXT))");
            between = ", (CAST(";
        }
        query.push(
            ") AS t JOIN processor_reports r ON r.merchant_id = t.column1 AND r.livemode = t.column2 \
             AND r.processor = t.column3 AND r.message = t.column4 AND r.processor_event_id = t.column5",
        );
        let rows = query.build().fetch_all(self.conn.about(&[]).await?).await?;
        for key in messages.keys() {
            self.conn.cache.note_message(key.clone(), None);
        }
        for row in rows {
            let found = KnownMessage { resource_id: row.try_get(1)?, said: row.try_get(2)? };
            self.conn.cache.note_message(row.try_get(0)?, Some(found));
        }
        Ok(())
    }
}

/// The values of a list, and its closing bracket.
fn push_list(query: &mut QueryBuilder<Db>, values: &[&str]) {
    let mut list = query.separated(", ");
    for value in padded(values) {
        list.push_bind((*value).to_owned());
    }
    query.push(")");
}
