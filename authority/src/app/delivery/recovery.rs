//! Sending an endpoint the events it missed, as a durable job (contract 15.2). The use cases that create, show and
//! cancel a recovery are here, and so is one step of it, which the worker runs
//! ([`crate::background::recovery_worker`]).
//!
//! A recovery first counts the missed events, then creates deliveries. Both phases walk the stream outside the
//! writer, a bounded range per step, and write their result in one short transaction. A recovery has only a few
//! deliveries due at a time, so that a new event of the same endpoint queues behind those and not behind
//! everything it missed. At most [`WAITING_MAX`] of its deliveries are pending, retries included.

use authority_domain::delivery::RecoveryRequest;
use authority_domain::delivery::recovery::{Recovery, RecoveryStatus};
use authority_domain::delivery::undelivered::Wanted;
use authority_domain::endpoint::{Endpoint, EndpointStatus};
use authority_domain::error_code::ErrorCode;
use authority_domain::id::{DeliveryId, EndpointId, RecoveryId};
use authority_domain::order::no_members;
use authority_domain::refusal::Refusal;
use authority_domain::tenant::Tenant;
use authority_store::StoreError;
use authority_store::ports::{Missed, RecoveryBacklog, RecoveryJob, RecoveryStep, Stretch, Tx};
use authority_store::shards::Turns;
use serde::Serialize;
use serde_json::Value;

use crate::app::delivery::undelivered::{WINDOW, range};
use crate::app::endpoint::changes::addressed;
use crate::app::endpoint::merchant::Holder;
use crate::app::mutation::{Work, on_its_own};
use crate::app::{Answer, App, Mutation};

/// Most events that a dry run reads: a second or two.
const DRY_RUN_EVENTS: i64 = 400_000;

/// Most events that are read for a page that says how many there are.
const PAGE_EVENTS: i64 = 10_000;

/// Events that are counted before a recovery is created; the worker counts the rest.
const COUNTED_AT_ONCE: i64 = 50_000;

/// Windows that one step reads.
const WINDOWS: i64 = 5;

/// The limit of due recovery deliveries per endpoint lies in this range: about the number that the endpoint takes
/// in a second.
pub const DUE: std::ops::RangeInclusive<i64> = 64..=1_024;

/// Most pending recovery deliveries per endpoint, those scheduled for a retry included.
pub const WAITING_MAX: i64 = 2_000;

/// The result of a dry run.
#[derive(Serialize)]
#[serde(tag = "object", rename = "endpoint_recovery")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "RecoveryDryRun"))]
pub(in crate::app) struct DryRun<'a> {
    /// True: nothing was started.
    dry_run: bool,
    /// The endpoint it would be for.
    endpoint_id: &'a EndpointId,
    /// Whether it is for live data.
    livemode: bool,
    /// Events that would be sent.
    matched: i64,
    /// False when there were more events than one request reads: `matched` then counts only the oldest of them.
    complete: bool,
}

/// What a walk has counted so far.
#[derive(Clone, Copy)]
struct Counted {
    stretch: Stretch,
    to: i64,
    matched: i64,
}

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
    /// `POST /webhook-endpoints/:id/recover`.
    ///
    /// # Errors
    /// `not_found`; 422 for wrong members; `endpoint_disabled`.
    pub async fn endpoint_recover(
        &self,
        holder: impl Into<Holder>,
        mutation: Mutation,
        id: Option<EndpointId>,
        body: Value,
    ) -> Result<Answer, Refusal> {
        let Holder { tenant, scope, .. } = holder.into();
        // The transaction reports what is wrong with the request, in the order of contract 4.2.
        let dry_run = RecoveryRequest::read(&body).is_ok_and(|request| request.dry_run);
        if dry_run {
            return self.recovery_dry_run(tenant, id, &body, DRY_RUN_EVENTS).await;
        }
        let counted = self.count_ahead(&tenant, id.clone(), &body, COUNTED_AT_ONCE).await.ok();
        let base = self.clone();
        mutation
            .run(self, scope, move |work| {
                Box::pin(async move {
                    let endpoint = addressed(work.tx, &tenant, id).await?;
                    let request = RecoveryRequest::read(&body)?;
                    check_enabled(&endpoint)?;
                    let recovery = begin(work, &tenant, &endpoint, request, counted).await?;
                    let location = base.location("endpoint-recoveries", recovery.id.as_str());
                    Ok(Answer::record(202, &recovery)?.location(location).about(recovery.id.as_str()))
                })
            })
            .await
    }

    /// `GET /endpoint-recoveries/:id`. Recoveries of a deleted endpoint can still be read.
    ///
    /// # Errors
    /// `not_found`; `None` is a malformed id.
    pub async fn recovery_get(
        &self,
        holder: impl Into<Holder>,
        id: Option<RecoveryId>,
    ) -> Result<Answer, Refusal> {
        let missing = || Refusal::not_found("recovery");
        let (id, tenant) = (id.ok_or_else(missing)?, holder.into().tenant);
        let found = self
            .store
            .read(move |tx: &mut dyn Tx| Box::pin(async move { tx.recovery_get(&tenant, &id).await }))
            .await
            .map_err(|error: StoreError| Refusal::from(error))?;
        Answer::record(200, &found.ok_or_else(missing)?)
    }

    /// `POST /endpoint-recoveries/:id/cancel`. Deliveries that it has already created are still sent.
    ///
    /// # Errors
    /// `not_found`; `recovery_finished`; 422 for a body with members.
    pub async fn recovery_cancel(
        &self,
        holder: impl Into<Holder>,
        mutation: Mutation,
        id: Option<RecoveryId>,
        body: Value,
    ) -> Result<Answer, Refusal> {
        let holder = holder.into();
        let tenant = holder.tenant;
        mutation
            .run(self, holder.scope, move |work| {
                Box::pin(async move {
                    let missing = || Refusal::not_found("recovery");
                    let id = id.ok_or_else(missing)?;
                    let found = work.tx.recovery_get(&tenant, &id).await?.ok_or_else(missing)?;
                    no_members(&body)?;
                    if !work.tx.recovery_cancel(&tenant, &id, work.now).await? {
                        let detail = format!("The recovery has ended: it is {}.", found.status);
                        return Err(Refusal::new(ErrorCode::RecoveryFinished, detail));
                    }
                    let after = work.tx.recovery_get(&tenant, &id).await?.ok_or_else(missing)?;
                    Ok(Answer::record(200, &after)?.about(id.as_str()))
                })
            })
            .await
    }

    /// The same as a dry run for a page, which is there at once: of the oldest events alone.
    ///
    /// # Errors
    /// As for [`App::endpoint_recover`].
    pub async fn recovery_count_first(
        &self,
        holder: impl Into<Holder>,
        id: Option<EndpointId>,
        body: &Value,
    ) -> Result<Answer, Refusal> {
        self.recovery_dry_run(holder.into().tenant, id, body, PAGE_EVENTS).await
    }

    async fn recovery_dry_run(
        &self,
        tenant: Tenant,
        id: Option<EndpointId>,
        body: &Value,
        events: i64,
    ) -> Result<Answer, Refusal> {
        let livemode = tenant.livemode;
        let endpoint_id = id.clone().ok_or_else(|| Refusal::not_found("webhook endpoint"))?;
        let counted = self.count_ahead(&tenant, id, body, events).await?;
        let dry_run = DryRun {
            dry_run: true,
            endpoint_id: &endpoint_id,
            livemode,
            matched: counted.matched,
            complete: counted.to >= counted.stretch.below - 1,
        };
        Answer::record(200, &dry_run)
    }

    /// Counts the undelivered events that a request asks for, oldest first, reading at most `events` of them. Each
    /// few windows are a separate job, so that other list requests can run in between.
    async fn count_ahead(
        &self,
        tenant: &Tenant,
        id: Option<EndpointId>,
        body: &Value,
        events: i64,
    ) -> Result<Counted, Refusal> {
        let request = RecoveryRequest::read(body)?;
        let of = tenant.clone();
        let (endpoint, stretch) = self
            .store
            .read_list(move |tx: &mut dyn Tx| {
                Box::pin(async move {
                    let endpoint = addressed(tx, &of, id).await?;
                    check_enabled(&endpoint)?;
                    let stretch = range(tx, &of, &endpoint.id, Some(request.since), request.until).await?;
                    Ok::<_, Refusal>((endpoint, stretch))
                })
            })
            .await?;
        let request = RecoveryRequest::read(body)?;
        let wanted = Wanted::of(&endpoint.enabled_events, request.types.as_deref().unwrap_or_default());
        let mut counted = Counted { stretch, to: stretch.above.min(stretch.below - 1), matched: 0 };
        while counted.to < stretch.below - 1 && counted.to - stretch.above < events {
            let (to, found) = self.count_on(tenant, &endpoint.id, &wanted, counted.to, stretch).await?;
            counted = Counted { stretch, to, matched: counted.matched + found };
        }
        Ok(counted)
    }

    /// Continues counting after `from`; returns where it stopped, and the count.
    async fn count_on(
        &self,
        tenant: &Tenant,
        endpoint: &EndpointId,
        wanted: &Wanted,
        from: i64,
        stretch: Stretch,
    ) -> Result<(i64, i64), StoreError> {
        let (tenant, endpoint, wanted) = (tenant.clone(), endpoint.clone(), wanted.clone());
        let below = stretch.below.min(from + 1 + WINDOWS * WINDOW);
        self.store
            .read_list(move |tx: &mut dyn Tx| {
                Box::pin(async move {
                    let part = Stretch { above: from, below };
                    Ok((below - 1, tx.undelivered_count(&tenant, &endpoint, &wanted, part).await?))
                })
            })
            .await
    }

    /// Up to `limit` running recoveries of all merchants, after `after`.
    ///
    /// # Errors
    /// What the store reports.
    pub async fn recoveries_running(
        &self,
        after: Option<&Recovery>,
        limit: i64,
    ) -> Result<Vec<RecoveryJob>, StoreError> {
        let after = after.map(|recovery| (recovery.endpoint_id.clone(), recovery.id.clone()));
        self.store
            .read(move |tx: &mut dyn Tx| {
                Box::pin(async move {
                    let after = after.as_ref().map(|(endpoint, id)| (endpoint, id));
                    tx.recoveries_running(after, limit).await
                })
            })
            .await
    }

    /// Runs one step of a recovery, whose endpoint may have `most_due` of its deliveries due ([`DUE`]).
    ///
    /// # Errors
    /// What the store reports; nothing is half done.
    pub async fn recovery_advance(&self, job: RecoveryJob, most_due: i64) -> Result<Advanced, Refusal> {
        let (tenant, id) = (job.tenant.clone(), job.recovery.endpoint_id.clone());
        let now = self.now();
        let (endpoint, backlog) = self
            .store
            .read(move |tx: &mut dyn Tx| {
                Box::pin(async move {
                    let endpoint = tx.endpoint_get(&tenant, &id).await?;
                    Ok((endpoint, tx.recovery_backlog(&tenant, &id, now, WAITING_MAX).await?))
                })
            })
            .await
            .map_err(|error: StoreError| Refusal::from(error))?;
        let Some(endpoint) = endpoint else { return Ok(Advanced::Elsewhere) };
        let wanted = Wanted::of(&endpoint.enabled_events, job.recovery.types.as_deref().unwrap_or_default());
        if job.counted_to < job.stretch.below - 1 {
            return self.recovery_count(job, &endpoint.id, &wanted).await;
        }
        let Some(room) = room(backlog, most_due) else { return Ok(Advanced::Waits) };
        let (missed, walked_to) = self.next_missed(&job, &endpoint.id, &wanted, room).await?;
        let made = i64::try_from(missed.len()).unwrap_or(i64::MAX);
        let stepped = on_its_own(self, Turns::of(&job.tenant.merchant_id), move |work| {
            Box::pin(async move {
                let missed = missed
                    .into_iter()
                    .map(|missed| (DeliveryId::generate(work.now, &mut work.dice), missed))
                    .collect();
                Ok(work.tx.recovery_step(&RecoveryStep { job, missed, walked_to }, work.now).await?)
            })
        })
        .await?;
        Ok(if stepped.is_some() { Advanced::Worked(made) } else { Advanced::Elsewhere })
    }

    async fn recovery_count(
        &self,
        job: RecoveryJob,
        endpoint: &EndpointId,
        wanted: &Wanted,
    ) -> Result<Advanced, Refusal> {
        let (to, found) = self.count_on(&job.tenant, endpoint, wanted, job.counted_to, job.stretch).await?;
        let noted = on_its_own(self, Turns::of(&job.tenant.merchant_id), move |work| {
            Box::pin(async move { Ok(work.tx.recovery_counted(&job, to, found, work.now).await?) })
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
        self.store
            .read_list(move |tx: &mut dyn Tx| {
                Box::pin(async move {
                    let below = job.stretch.below.min(job.walked_to + 1 + WINDOWS * WINDOW);
                    let part = Stretch { above: job.walked_to, below };
                    let missed = tx.undelivered_oldest(&job.tenant, &endpoint, &wanted, part, room).await?;
                    let full = i64::try_from(missed.len()).is_ok_and(|found| found >= room);
                    let last = missed.last().filter(|_| full).map(|last| last.sequence);
                    Ok((missed, last.unwrap_or(below - 1)))
                })
            })
            .await
    }
}

/// How many more deliveries may be created; `None` while more than half of `most_due` are due.
fn room(backlog: RecoveryBacklog, most_due: i64) -> Option<i64> {
    let room = (most_due - backlog.due).min(WAITING_MAX - backlog.waiting);
    (backlog.due <= most_due / 2 && room > 0).then_some(room)
}

fn check_enabled(endpoint: &Endpoint) -> Result<(), Refusal> {
    match endpoint.status {
        EndpointStatus::Enabled => Ok(()),
        EndpointStatus::Disabled => {
            Err(Refusal::new(ErrorCode::EndpointDisabled, "The endpoint is disabled: it gets nothing."))
        }
    }
}

/// Creates the record; a recovery with an empty range is completed at once.
async fn begin(
    work: &mut Work<'_>,
    tenant: &Tenant,
    endpoint: &Endpoint,
    request: RecoveryRequest,
    counted: Option<Counted>,
) -> Result<Recovery, Refusal> {
    // A request for the missed events implies that the receiver is back.
    work.tx.endpoint_probe_now(&endpoint.id).await?;
    let stretch = range(work.tx, tenant, &endpoint.id, Some(request.since), request.until).await?;
    let stretch = Stretch { above: stretch.above.min(stretch.below - 1), ..stretch };
    let empty = stretch.above >= stretch.below - 1;
    let counted =
        counted.filter(|counted| counted.stretch.above == stretch.above && counted.to < stretch.below);
    let recovery = Recovery {
        id: RecoveryId::generate(work.now, &mut work.dice),
        endpoint_id: endpoint.id.clone(),
        livemode: tenant.livemode,
        status: if empty { RecoveryStatus::Completed } else { RecoveryStatus::Running },
        since: request.since,
        until: request.until,
        types: request.types,
        matched: counted.map_or(0, |counted| counted.matched),
        enqueued: 0,
        created_at: work.now,
        updated_at: work.now,
        finished_at: empty.then_some(work.now),
    };
    let job = RecoveryJob {
        recovery,
        tenant: tenant.clone(),
        stretch,
        counted_to: counted.map_or(stretch.above, |counted| counted.to),
        walked_to: stretch.above,
    };
    work.tx.recovery_insert(&job).await?;
    Ok(job.recovery)
}
