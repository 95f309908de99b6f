//! A recovery step by step, as the worker runs it ([`crate::background::recovery_worker`]): each step reads a bounded
//! range of the stream outside the writer, and writes what it found in one short transaction.

use authority_domain::recovery::Recovery;
use authority_domain::recovery::undelivered::Wanted;
use authority_domain::{DeliveryId, EndpointId, Result};
use authority_store::StoreError;
use authority_store::shards::Turns;
use authority_store::tx::{Missed, RecoveryBacklog, RecoveryJob, RecoveryStep, Stretch};

use crate::app::App;
use crate::app::delivery::recovery::WINDOWS;
use crate::app::delivery::undelivered::WINDOW;
use crate::app::mutation::on_its_own;

/// The limit of due recovery deliveries per endpoint lies in this range: about the number that the endpoint takes
/// in a second.
pub const DUE: std::ops::RangeInclusive<i64> = 64..=1_024;

/// Most pending recovery deliveries per endpoint, those scheduled for a retry included.
pub const WAITING_MAX: i64 = 2_000;

/// The result of one step of a recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Advanced {
    /// Something was written: this number of deliveries, or none while missed events are still counted.
    Worked(i64),
    /// The endpoint already has enough pending deliveries of it.
    Waits,
    /// It has ended, or another worker took the step.
    Elsewhere,
}

impl App {
    /// Up to `limit` running recoveries of all merchants, after `after`.
    pub async fn recoveries_running(
        &self,
        after: Option<&Recovery>,
        limit: i64,
    ) -> Result<Vec<RecoveryJob>, StoreError> {
        let after = after.map(|recovery| (recovery.endpoint_id.clone(), recovery.id.clone()));
        self.read(async move |tx| {
            let after = after.as_ref().map(|(endpoint, id)| (endpoint, id));
            tx.recoveries_running(after, limit).await
        })
        .await
    }

    /// Runs one step of a recovery, whose endpoint may have `most_due` of its deliveries due ([`DUE`]).
    ///
    /// # Errors
    /// What the store reports; nothing is half done.
    pub async fn recovery_advance(&self, job: RecoveryJob, most_due: i64) -> Result<Advanced> {
        let (tenant, id) = (job.tenant.clone(), job.recovery.endpoint_id.clone());
        let now = self.now();
        let (endpoint, backlog) = self
            .read(async move |tx| {
                let endpoint = tx.endpoint_get(&tenant, &id).await?;
                Ok::<_, StoreError>((endpoint, tx.recovery_backlog(&tenant, &id, now, WAITING_MAX).await?))
            })
            .await?;
        let Some(endpoint) = endpoint else { return Ok(Advanced::Elsewhere) };
        let wanted = Wanted::of(&endpoint.enabled_events, job.recovery.types.as_deref().unwrap_or_default());
        if job.counted_to < job.stretch.below - 1 {
            return self.recovery_count(job, &endpoint.id, &wanted).await;
        }
        let Some(room) = room(backlog, most_due) else { return Ok(Advanced::Waits) };
        let (missed, walked_to) = self.next_missed(&job, &endpoint.id, &wanted, room).await?;
        let made = i64::try_from(missed.len()).unwrap_or(i64::MAX);
        let stepped = on_its_own(self, Turns::of(&job.tenant.merchant_id), async move |work| {
            let missed = missed
                .into_iter()
                .map(|missed| (DeliveryId::generate(work.now, &mut work.dice), missed))
                .collect();
            Ok(work.tx.recovery_step(&RecoveryStep { job, missed, walked_to }, work.now).await?)
        })
        .await?;
        Ok(if stepped.is_some() { Advanced::Worked(made) } else { Advanced::Elsewhere })
    }

    async fn recovery_count(
        &self,
        job: RecoveryJob,
        endpoint: &EndpointId,
        wanted: &Wanted,
    ) -> Result<Advanced> {
        let (to, found) = self.count_on(&job.tenant, endpoint, wanted, job.counted_to, job.stretch).await?;
        let noted = on_its_own(self, Turns::of(&job.tenant.merchant_id), async move |work| {
            Ok(work.tx.recovery_counted(&job, to, found, work.now).await?)
        })
        .await?;
        Ok(if noted { Advanced::Worked(0) } else { Advanced::Elsewhere })
    }

    /// The next missed events, at most `room`, and the sequence up to which there are no others.
    async fn next_missed(
        &self,
        job: &RecoveryJob,
        endpoint: &EndpointId,
        wanted: &Wanted,
        room: i64,
    ) -> Result<(Vec<Missed>, i64), StoreError> {
        let (job, endpoint, wanted) = (job.clone(), endpoint.clone(), wanted.clone());
        self.read_list(async move |tx| {
            let below = job.stretch.below.min(job.walked_to + 1 + WINDOWS * WINDOW);
            let part = Stretch { above: job.walked_to, below };
            let missed = tx.undelivered_oldest(&job.tenant, &endpoint, &wanted, part, room).await?;
            let full = i64::try_from(missed.len()).is_ok_and(|found| found >= room);
            let last = missed.last().filter(|_| full).map(|last| last.sequence);
            Ok((missed, last.unwrap_or(below - 1)))
        })
        .await
    }
}

/// How many more deliveries may be created; `None` while more than half of `most_due` are due.
fn room(backlog: RecoveryBacklog, most_due: i64) -> Option<i64> {
    let room = (most_due - backlog.due).min(WAITING_MAX - backlog.waiting);
    (backlog.due <= most_due / 2 && room > 0).then_some(room)
}
