//! What stands in a service's database, read and changed beside it.

use std::ops::RangeInclusive;

use authority_domain::Timestamp;
use authority_store::tx::Tx;
use authority_store::{Access, Store, StoreError, StoreUrl};

use super::Authority;

impl Authority {
    /// Removes a merchant's test events up to a sequence, beside the service, as a retention does.
    pub async fn forget_events(&self, merchant: &str, up_to: i64) {
        let url = &self.variables["AUTHORITY_DATABASE_URL"];
        crate::database::forget_events(url, merchant, up_to).await;
    }

    /// Copies a merchant's newest test event so many times, each newer than the one before. The copies go nowhere.
    pub async fn copy_event(&self, merchant: &str, copies: u32) {
        crate::database::copy_event(self.database_url(), merchant, copies).await;
    }

    /// Copies a merchant's test order so many times, beside the service, each newer than the one before.
    pub async fn copy_order(&self, merchant: &str, number: &str, copies: u32, status: &str) {
        crate::database::copy_order(self.database_url(), merchant, number, copies, status).await;
    }

    /// Copies a merchant's test order under these generated numbers, as if they had been imported.
    pub async fn import_orders(&self, merchant: &str, number: &str, numbers: RangeInclusive<u32>) {
        crate::database::import_orders(self.database_url(), merchant, number, numbers).await;
    }

    /// Advances the clock of a merchant's sandbox in the database, as an authority does that is killed right after.
    pub async fn advance_clock(&self, merchant: &str, seconds: i64) {
        crate::database::advance_clock(self.database_url(), merchant, seconds).await;
    }

    /// Waits until no delivery waits for an attempt, now or later, as the database says.
    pub async fn nothing_pending(&self) {
        crate::database::nothing_pending(self.database_url()).await;
    }

    /// Ends every lease that a killed process has left, as time does within a minute.
    pub async fn leases_run_out(&self) {
        assert!(self.running.is_none(), "a lease of a running process is its own");
        let sql = "UPDATE deliveries SET lease_until = 0 WHERE lease_token IS NOT NULL";
        crate::damage::execute(self.database_url(), sql).await;
    }

    /// Forgets every answer that is kept under an idempotency key, as time does after the retention.
    pub async fn forget_answers(&self) {
        let url = StoreUrl::parse(&self.variables["AUTHORITY_DATABASE_URL"]).unwrap();
        let store = Store::open(&url, Access::Shared).await.unwrap();
        let the_end = Timestamp::from_ms(i64::MAX);
        let gone: Result<u64, StoreError> = store
            .write(move |tx: &mut Tx| {
                Box::pin(async move { tx.idempotency_purge(the_end, i64::from(u32::MAX)).await })
            })
            .await;
        assert!(gone.unwrap() > 0, "there was nothing to forget");
        store.close().await;
    }
}
