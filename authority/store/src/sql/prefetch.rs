//! Prefetch: what the queued jobs declare that they will read first is read for all of them at once.
//!
//! Every writing request asks the same questions: whether its idempotency key is known, which merchant it is about,
//! and where that merchant's stream stands. Those of the busiest operations say which records they read next
//! ([`crate::sql::transaction::first_reads`]). For the requests that share a transaction,
//!
//! 1. everything that is found by keys is looked up together ([`crate::sql::transaction::lookups`]);
//! 2. the streams are read with what sending needs ([`crate::sql::event::streams`]);
//! 3. where orders may be made, the next numbers are looked up, since an operator may have used one by hand.
//!
//! The transaction caches the answers ([`crate::sql::transaction::transaction_cache`]). A job that finds nothing in
//! the cache runs the query itself, so no result depends on the prefetch. On PostgreSQL each of the three is a round
//! trip, for any number of jobs.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use authority_domain::{Merchant, OrderNumber, Tenant};

use crate::error::Result;
use crate::hand_off::DispatchHandle;
use crate::sql::order::surroundings;
use crate::sql::transaction::Tx;
use crate::sql::transaction::first_reads::{FirstReads, KeyColumns, Prefetch, keys};
use crate::sql::transaction::keys::{NUMBERS_START_ABOVE, answer_key, counter_key, order_key, stream_key};
use crate::sql::transaction::lookup_kinds::USED_FOR_ORDERS;
use crate::sql::transaction::lookups::{Found, Part};
use crate::sql::transaction::transaction_cache::{
    FoundKey, FoundPayable, FoundRecord, KnownMessage, OrderSurroundings,
};
use crate::sql::transaction::tx::JobState;

impl Tx {
    /// Reads what `jobs` will ask for first, before they run.
    pub(crate) async fn look(
        &mut self,
        jobs: &[&Prefetch],
        dispatch: Option<Arc<DispatchHandle>>,
    ) -> Result<()> {
        self.conn.begin_job(0);
        self.job = JobState::with(dispatch);
        let seen = self.prefetch(jobs).await;
        self.job = JobState::default();
        Ok(self.conn.end_look(seen).await?)
    }

    /// Caches what `jobs` will ask for.
    pub(crate) async fn prefetch(&mut self, jobs: &[&Prefetch]) -> Result<()> {
        let reads = FirstReads::of(jobs, &self.conn);
        self.rows_ahead(&reads).await?;
        self.streams_ahead(jobs).await?;
        self.numbers_ahead(&reads.numbers).await
    }

    async fn rows_ahead(&mut self, reads: &FirstReads<'_>) -> Result<()> {
        let (mut asked, rest) = reads.asked();
        // Two statements on PostgreSQL, and no more: what a connection has not prepared costs it a round trip.
        if rest.iter().any(|asked| !asked.keys.is_empty()) {
            asked.extend(rest);
        }
        if asked.iter().all(|asked| asked.keys.is_empty()) {
            return Ok(());
        }
        let rows = self.conn.look_up(&asked, &[]).await?;
        self.note_nothing_found(reads);
        let mut orders: HashMap<_, _> =
            reads.orders.keys().map(|key| (key.clone(), OrderSurroundings::default())).collect();
        let mut used = HashSet::new();
        for row in rows {
            match row.part()? {
                Part::Used => drop(used.insert(row.text(0)?)),
                Part::Order
                | Part::OrderPayment
                | Part::OpenRefund
                | Part::OrderShipment
                | Part::MarkedLine => surroundings::add(&mut orders, &row)?,
                part => self.note_found(part, &row)?,
            }
        }
        self.conn.cache.orders.extend(orders.into_iter().map(|(key, around)| (key, around.into())));
        self.conn.cache.unused.extend(reads.keys().filter(|key| !used.contains(*key)).cloned());
        Ok(())
    }

    /// Caches of everything that is asked for that there is no such row. What is found replaces it.
    fn note_nothing_found(&mut self, reads: &FirstReads<'_>) {
        for key in reads.answers.keys() {
            self.conn.note_key(key.clone(), None);
        }
        let cache = &mut self.conn.cache;
        cache.payables.extend(reads.checkouts.keys().map(|id| ((*id).to_owned(), None)));
        cache.records.extend(reads.records().map(|id| (id.to_owned(), None)));
        cache.messages.extend(reads.messages.keys().map(|key| (key.clone(), None)));
        for (key, tenant) in &reads.counters {
            self.conn.note_counter(tenant, key, NUMBERS_START_ABOVE);
        }
    }

    fn note_found(&mut self, part: Part, row: &Found) -> Result<()> {
        match part {
            // A merchant that cannot be read is not cached: the job that asks for it gets the error.
            Part::Merchant => {
                if let Ok(merchant) = serde_json::from_str::<Merchant>(&row.text(0)?) {
                    self.conn.note_merchant(&merchant);
                }
            }
            Part::Answer => {
                let key = answer_key(&row.text(0)?, row.flag()?, &row.text(1)?);
                let (fingerprint, answer) = (row.bytes()?, row.text(2)?);
                let found = FoundKey { fingerprint, answer, expires_at: row.number(0)? };
                self.conn.note_key(key, Some(found));
            }
            Part::Counter => {
                let tenant = row.tenant()?;
                self.conn.note_counter(&tenant, &counter_key(&tenant), row.number(0)?);
            }
            Part::CheckoutToPay => {
                let (tenant, body) = (row.tenant()?, row.text(2)?);
                let found = FoundPayable { tenant, body, under_way: row.number(0)? == 1 };
                self.conn.cache.payables.insert(row.text(1)?, Some(found));
            }
            Part::Message => {
                let found = KnownMessage { resource_id: row.text(1)?, said: row.optional_text(2)? };
                self.conn.cache.messages.insert(row.text(0)?, Some(found));
            }
            // Payments, refunds and shipments; the rest is read where several rows make one answer.
            _ => {
                let found = FoundRecord { tenant: row.tenant()?, body: row.text(2)? };
                if part == Part::Payment {
                    self.note_around(&found.tenant, row)?;
                }
                self.conn.cache.records.insert(row.text(1)?, Some(found));
            }
        }
        Ok(())
    }

    async fn streams_ahead(&mut self, jobs: &[&Prefetch]) -> Result<()> {
        let unknown = |tenant: &&Tenant| {
            !self.conn.cache.streams.contains_key(tenant) && !self.conn.waits(&stream_key(tenant))
        };
        let tenants: HashSet<_> = jobs.iter().filter_map(|job| job.tenant.as_ref()).filter(unknown).collect();
        let tenants: Vec<_> = tenants.into_iter().collect();
        let Some(now) = jobs.iter().map(|job| job.now).max().filter(|_| tenants.len() > 1) else {
            return Ok(());
        };
        for (tenant, stream) in self.streams(&tenants, now).await? {
            self.conn.note_stream(&tenant, stream);
        }
        Ok(())
    }

    /// Caches which of the next order numbers of these tenants are free, as many as their jobs may take.
    async fn numbers_ahead(&mut self, tenants: &BTreeMap<&Tenant, usize>) -> Result<()> {
        let mut numbers = BTreeMap::new();
        for (tenant, count) in tenants {
            let known =
                (self.conn.cache.counters.get(tenant), self.conn.cache.merchants.get(&tenant.merchant_id));
            let (Some(last), Some(merchant)) = known else { continue };
            for next in (last + 1..).take(*count) {
                let number = OrderNumber::generated(&merchant.settings.order_number_prefix, next);
                let key = order_key(&tenant.merchant_id, tenant.livemode, &number);
                let text = Cow::Owned(number.to_string());
                numbers.insert(key, KeyColumns { tenant, text, requester: "" });
            }
        }
        numbers.retain(|key, _| !self.conn.waits(key));
        if numbers.len() < self.conn.dialect().worth_looking_up {
            return Ok(());
        }
        let rows = self.conn.look_up(&[keys(&USED_FOR_ORDERS, &numbers)], &[]).await?;
        let used: HashSet<_> = rows.iter().map(|row| row.text(0)).collect::<Result<_, _>>()?;
        self.conn.cache.unused.extend(numbers.into_keys().filter(|key| !used.contains(key)));
        Ok(())
    }
}
