//! Prefetch: what the queued jobs will read first is read for all of them at once.
//!
//! Every writing request asks the same questions: whether its idempotency key is known, which merchant it is about,
//! and where that merchant's stream stands. Those of the busiest operations say which records they read next
//! ([`super::prefetch_records`]). For requests that share a transaction, one statement per question fetches
//! all answers, and the transaction caches them ([`super::transaction_cache`]). A job that finds nothing in the cache
//! runs the query itself, so no result depends on the prefetch. On PostgreSQL, reading one stream cost each job a
//! round trip, half of a transaction's time.

use std::collections::{BTreeSet, HashSet};

use authority_domain::merchant::Merchant;
use authority_domain::tenant::Tenant;
use sqlx::{QueryBuilder, Row};

use super::requests::{columns, waits_under};
use super::transaction_cache::FoundKey;
use super::{Db, Session, streams};
use crate::StoreError;
use crate::ports::Prefetch;

/// With fewer jobs than this, each runs its own queries.
pub(super) const WORTH_IT: usize = 2;

impl Session<'_> {
    /// Caches what `jobs` will ask for.
    pub(crate) async fn prefetch(&mut self, jobs: &[&Prefetch]) -> Result<(), StoreError> {
        self.merchants_ahead(jobs).await?;
        self.keys_ahead(jobs).await?;
        self.streams_ahead(jobs).await?;
        self.records_ahead(jobs).await
    }

    async fn streams_ahead(&mut self, jobs: &[&Prefetch]) -> Result<(), StoreError> {
        let unknown = |tenant: &&Tenant| {
            self.conn.cache.stream(tenant).is_none() && !self.conn.waits(&streams::waits_under(tenant))
        };
        let tenants: HashSet<_> = jobs.iter().filter_map(|job| job.tenant.as_ref()).filter(unknown).collect();
        let tenants: Vec<_> = tenants.into_iter().collect();
        let Some(now) = jobs.iter().map(|job| job.now).max().filter(|_| tenants.len() >= WORTH_IT) else {
            return Ok(());
        };
        for (tenant, stream) in self.streams(&tenants, now).await? {
            self.conn.note_stream(&tenant, stream);
        }
        Ok(())
    }

    async fn merchants_ahead(&mut self, jobs: &[&Prefetch]) -> Result<(), StoreError> {
        let unknown = |id: &&_| self.conn.cache.merchant(id).is_none();
        let ids: BTreeSet<_> =
            jobs.iter().filter_map(|job| Some(&job.tenant.as_ref()?.merchant_id)).filter(unknown).collect();
        let ids: Vec<_> = ids.into_iter().collect();
        if ids.len() < WORTH_IT {
            return Ok(());
        }
        let mut query = QueryBuilder::<Db>::new("SELECT body FROM merchants WHERE id IN (");
        let mut list = query.separated(", ");
        for id in padded(&ids) {
            list.push_bind(id.as_str());
        }
        query.push(")");
        let bodies: Vec<String> = query.build_query_scalar().fetch_all(self.conn.about(&[]).await?).await?;
        for body in bodies {
            // A merchant that cannot be read is not cached: the job that asks for it gets the error.
            if let Ok(merchant) = serde_json::from_str::<Merchant>(&body) {
                self.conn.note_merchant(&merchant);
            }
        }
        Ok(())
    }

    async fn keys_ahead(&mut self, jobs: &[&Prefetch]) -> Result<(), StoreError> {
        let keys = jobs.iter().filter_map(|job| job.key.as_ref()).map(|(scope, key)| {
            let (merchant_id, livemode) = columns(scope);
            (merchant_id.into_owned(), livemode, key.clone())
        });
        let keys: BTreeSet<(String, bool, String)> = keys
            .filter(|(merchant_id, livemode, key)| {
                !self.conn.waits(&waits_under(merchant_id, *livemode, key))
            })
            .collect();
        let keys: Vec<_> = keys.iter().collect();
        if keys.len() < WORTH_IT {
            return Ok(());
        }
        // A join: SQLite answers IN over a list of rows by walking the whole table.
        let mut query = QueryBuilder::<Db>::new(
            "SELECT i.merchant_id, i.livemode, i.key, i.fingerprint, i.answer, i.expires_at FROM (VALUES ",
        );
        let mut between = "(CAST(";
        for (merchant_id, livemode, key) in padded(&keys) {
            query.push(between).push_bind(merchant_id).push(" AS TEXT), CAST(").push_bind(livemode);
            query.push(" AS BOOLEAN), CAST(").push_bind(key).push(" AS TEXT))");
            between = ", (CAST(";
        }
        query.push(
            ") AS t JOIN idempotency i \
             ON i.merchant_id = t.column1 AND i.livemode = t.column2 AND i.key = t.column3",
        );
        let rows = query.build().fetch_all(self.conn.about(&[]).await?).await?;
        for (merchant_id, livemode, key) in &keys {
            self.conn.note_key(waits_under(merchant_id, *livemode, key), None);
        }
        for row in rows {
            let key = waits_under(row.try_get(0)?, row.try_get(1)?, row.try_get(2)?);
            let found = FoundKey {
                fingerprint: row.try_get(3)?,
                answer: row.try_get(4)?,
                expires_at: row.try_get(5)?,
            };
            self.conn.note_key(key, Some(found));
        }
        Ok(())
    }
}

/// Repeats the last item until the count is a power of two, so that the database keeps few statement texts.
pub(super) fn padded<T>(all: &[T]) -> impl Iterator<Item = &T> {
    let missing = all.len().next_power_of_two() - all.len();
    all.iter().chain(all.last().into_iter().cycle().take(missing))
}
