//! Sending an endpoint the events it missed, as a durable job (contract 15.2). The use cases that create, show and
//! cancel a recovery are here; what the worker does of it is in [`super::recovery_steps`].
//!
//! A recovery first counts the missed events, then creates deliveries. Both phases walk the stream outside the
//! writer, a bounded range per step, and write their result in one short transaction. A recovery has only a few
//! deliveries due at a time, so that a new event of the same endpoint queues behind those and not behind
//! everything it missed. At most [`WAITING_MAX`](super::recovery_steps::WAITING_MAX) of its deliveries are pending,
//! retries included.

use authority_domain::order::no_members;
use authority_domain::recovery::undelivered::Wanted;
use authority_domain::recovery::{Recovery, RecoveryRequest, RecoveryStatus};
use authority_domain::{
    Endpoint, EndpointId, EndpointStatus, ErrorCode, ListKind, Named, RecoveryId, Refusal, Result, Tenant,
};
use authority_store::StoreError;
use authority_store::tx::{RecoveryJob, Stretch};
use serde::Serialize;
use serde_json::Value;

use crate::app::delivery::undelivered::{WINDOW, range};
use crate::app::endpoint::changes::addressed;
use crate::app::endpoint::merchant::Holder;
use crate::app::lists::written;
use crate::app::{Answer, App, List, ListRequest, Mutation, Work};

/// Most events that a dry run reads: a second or two.
const DRY_RUN_EVENTS: i64 = 400_000;

/// Most events that are read for a page that says how many there are.
const PAGE_EVENTS: i64 = 2_000;

/// Events that are counted before a recovery is created; the worker counts the rest.
const COUNTED_AT_ONCE: i64 = 50_000;

/// Windows that one step reads.
pub(super) const WINDOWS: i64 = 5;

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

impl App {
    /// `POST /webhook-endpoints/:id/recover`.
    pub async fn endpoint_recover(
        &self,
        holder: impl Into<Holder>,
        mutation: Mutation,
        id: Named<EndpointId>,
    ) -> Result<Answer> {
        let (holder, request) = (holder.into(), RecoveryRequest::read(&mutation.body));
        let counted = match request.clone() {
            Ok(request) if request.dry_run => {
                return self.recovery_dry_run(holder.tenant, id, request, DRY_RUN_EVENTS).await;
            }
            Ok(request) => self.count_ahead(&holder.tenant, id.clone(), request, COUNTED_AT_ONCE).await.ok(),
            Err(_) => None,
        };
        let base = self.clone();
        self.for_holder(mutation, holder, async move |work, tenant| {
            let endpoint = addressed(work.tx, &tenant, id).await?;
            let request = request?;
            check_enabled(&endpoint)?;
            let recovery = begin(work, &tenant, &endpoint, request, counted).await?;
            let location = base.location("endpoint-recoveries", recovery.id.as_str());
            Ok(Answer::record(202, &recovery)?.location(location).about(recovery.id.as_str()))
        })
        .await
    }

    /// `GET /endpoint-recoveries/:id`. Recoveries of a deleted endpoint can still be read.
    pub async fn recovery_get(&self, holder: impl Into<Holder>, id: RecoveryId) -> Result<Answer> {
        let tenant = holder.into().tenant;
        let found = self.read(async move |tx| tx.recovery_get(&tenant, &id).await).await?;
        Answer::record(200, &found.ok_or_else(RecoveryId::missing)?)
    }

    /// The recoveries of an endpoint that have ended, newest first: for the pages.
    pub async fn recoveries_ended_list(
        &self,
        holder: impl Into<Holder>,
        endpoint: EndpointId,
        request: &ListRequest,
    ) -> Result<List> {
        let tenant = holder.into().tenant;
        let request = ListRequest { filter: endpoint.to_string(), ..request.clone() };
        let show = |recovery: Recovery| Ok((recovery.id.to_string(), written(recovery)?));
        self.operator_list(ListKind::Recoveries, RecoveryId::PREFIX, &request, show, async move |tx, of| {
            Ok(tx.recoveries_ended_page(&tenant, &endpoint, of.before.as_deref(), of.rows).await?)
        })
        .await
    }

    /// The recoveries of an endpoint that run, newest first.
    pub async fn recoveries_running_for(
        &self,
        holder: impl Into<Holder>,
        endpoint: EndpointId,
        limit: i64,
    ) -> Result<Vec<Recovery>> {
        let tenant = holder.into().tenant;
        Ok(self.read(async move |tx| tx.recoveries_running_for(&tenant, &endpoint, limit).await).await?)
    }

    /// `POST /endpoint-recoveries/:id/cancel`. Deliveries that it has already created are still sent.
    pub async fn recovery_cancel(
        &self,
        holder: impl Into<Holder>,
        mutation: Mutation,
        id: Named<RecoveryId>,
    ) -> Result<Answer> {
        let empty = no_members(&mutation.body);
        self.for_holder(mutation, holder, async move |work, tenant| {
            let (missing, id) = (RecoveryId::missing, id?);
            let found = work.tx.recovery_get(&tenant, &id).await?.ok_or_else(missing)?;
            empty?;
            if !work.tx.recovery_cancel(&tenant, &id, work.now).await? {
                let detail = format!("The recovery has ended: it is {}.", found.status);
                return Err(Refusal::new(ErrorCode::RecoveryFinished, detail));
            }
            let after = work.tx.recovery_get(&tenant, &id).await?.ok_or_else(missing)?;
            Ok(Answer::record(200, &after)?.about(id.as_str()))
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
        id: Named<EndpointId>,
        body: &Value,
    ) -> Result<Answer> {
        let request = RecoveryRequest::read(body)?;
        self.recovery_dry_run(holder.into().tenant, id, request, PAGE_EVENTS).await
    }

    async fn recovery_dry_run(
        &self,
        tenant: Tenant,
        id: Named<EndpointId>,
        request: RecoveryRequest,
        events: i64,
    ) -> Result<Answer> {
        let (livemode, endpoint_id) = (tenant.livemode, id?);
        let counted = self.count_ahead(&tenant, Ok(endpoint_id.clone()), request, events).await?;
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
        id: Named<EndpointId>,
        request: RecoveryRequest,
        events: i64,
    ) -> Result<Counted> {
        let (of, since, until) = (tenant.clone(), request.since, request.until);
        let (endpoint, stretch) = self
            .read_list(async move |tx| {
                let endpoint = addressed(tx, &of, id).await?;
                check_enabled(&endpoint)?;
                let stretch = range(tx, &of, &endpoint.id, Some(since), until).await?;
                Ok::<_, Refusal>((endpoint, stretch))
            })
            .await?;
        let wanted = Wanted::of(&endpoint.enabled_events, request.types.as_deref().unwrap_or_default());
        let mut counted = Counted { stretch, to: stretch.above.min(stretch.below - 1), matched: 0 };
        // The store reads no further than this, so that a page says truly how far was counted.
        let ahead = Stretch { below: stretch.below.min(counted.to + 1 + events), ..stretch };
        while counted.to < ahead.below - 1 {
            let (to, found) = self.count_on(tenant, &endpoint.id, &wanted, counted.to, ahead).await?;
            counted = Counted { stretch, to, matched: counted.matched + found };
        }
        Ok(counted)
    }

    /// Continues counting after `from`; returns where it stopped, and the count.
    pub(super) async fn count_on(
        &self,
        tenant: &Tenant,
        endpoint: &EndpointId,
        wanted: &Wanted,
        from: i64,
        stretch: Stretch,
    ) -> Result<(i64, i64), StoreError> {
        let (tenant, endpoint, wanted) = (tenant.clone(), endpoint.clone(), wanted.clone());
        let below = stretch.below.min(from + 1 + WINDOWS * WINDOW);
        self.read_list(async move |tx| {
            let part = Stretch { above: from, below };
            Ok((below - 1, tx.undelivered_count(&tenant, &endpoint, &wanted, part).await?))
        })
        .await
    }
}

fn check_enabled(endpoint: &Endpoint) -> Result<()> {
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
) -> Result<Recovery> {
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
