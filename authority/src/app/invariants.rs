//! The audit of a whole database: stored data goes, one page at a time, through the checks of the domain (contract
//! 3.11).
//!
//! Per merchant and mode it checks the stream in its order with the deliveries of every event, the events of every
//! record against the record itself, the events that the merchant received as a partner of others, the records
//! without any event, and every order with everything that belongs to it. Everything is read in one snapshot, so a
//! service may continue to write meanwhile. Memory is bounded: pages of `PAGE` rows, and `FINDINGS_KEPT` findings
//! beside their total number.

use std::collections::BTreeMap;

use authority_domain::invariants::{
    EventDelivery, Finding, FindingCode, History, RecordFromEvents, RecordKind, ShareFromEvents,
    StoredRecord, StreamCheck, check_fan_out, check_order, check_payment_without_order, check_record,
    check_share,
};
use authority_domain::{MerchantId, Tenant, Timestamp};
use authority_store::tx::Tx;
use authority_store::{Inspection, StoreError};
use serde::Serialize;

/// Rows per query. A row may be an event of 256 KiB.
const PAGE: i64 = 100;

/// Findings that are reported in full; the others are only counted.
const FINDINGS_KEPT: usize = 100;

/// A finding and the stream it belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Located {
    /// The merchant concerned; `None` when it concerns the whole database.
    pub merchant_id: Option<MerchantId>,
    /// The mode concerned.
    pub livemode: Option<bool>,
    /// The violated invariant, as numbered in contract 3.11.
    pub invariant: &'static str,
    /// What was found.
    #[serde(flatten)]
    pub finding: Finding,
}

/// What the audit read, and what it found.
#[derive(Clone, Debug, Default, Serialize)]
pub struct AuditReport {
    /// Streams with at least one event.
    pub streams: u64,
    /// Events.
    pub events: u64,
    /// Records that have events.
    pub records: u64,
    /// The number of all findings.
    pub findings_total: u64,
    /// The first of them.
    pub findings: Vec<Located>,
    /// The time of the newest event.
    #[serde(skip)]
    pub newest: Option<Timestamp>,
}

/// Audits the whole database.
pub async fn audit(inspection: &mut Inspection) -> Result<AuditReport, StoreError> {
    inspection
        .snapshot(|tx| {
            Box::pin(async move {
                let mut auditor = Auditor { tx, report: AuditReport::default(), tenant: None };
                auditor.guards().await?;
                auditor.merchants().await?;
                Ok(auditor.report)
            })
        })
        .await
}

struct Auditor<'t> {
    tx: &'t mut Tx,
    report: AuditReport,
    tenant: Option<Tenant>,
}

impl Auditor<'_> {
    fn found(&mut self, findings: impl IntoIterator<Item = Finding>) {
        for finding in findings {
            self.report.findings_total += 1;
            if self.report.findings.len() < FINDINGS_KEPT {
                self.report.findings.push(Located {
                    merchant_id: self.tenant.as_ref().map(|tenant| tenant.merchant_id.clone()),
                    livemode: self.tenant.as_ref().map(|tenant| tenant.livemode),
                    invariant: finding.code.invariant(),
                    finding,
                });
            }
        }
    }

    async fn guards(&mut self) -> Result<(), StoreError> {
        for guard in self.tx.inspect_missing_guards().await? {
            let detail = "the trigger that keeps events from being changed is missing or switched off";
            self.found([Finding::new(FindingCode::EventGuardMissing, guard, detail)]);
        }
        Ok(())
    }

    async fn merchants(&mut self) -> Result<(), StoreError> {
        let mut after: Option<MerchantId> = None;
        loop {
            let page = self.tx.inspect_merchants(after.as_ref(), PAGE).await?;
            let Some(last) = page.last() else { return Ok(()) };
            after = Some(last.clone());
            for merchant_id in page {
                for livemode in [true, false] {
                    let tenant = Tenant { merchant_id: merchant_id.clone(), livemode };
                    self.tenant = Some(tenant.clone());
                    self.stream(&tenant).await?;
                    self.histories(&tenant).await?;
                    self.untold(&tenant).await?;
                    self.untold_shares(&tenant).await?;
                    self.orders(&tenant).await?;
                    self.payments_without_order(&tenant).await?;
                }
            }
            self.tenant = None;
        }
    }

    /// I8 and I12.
    async fn stream(&mut self, tenant: &Tenant) -> Result<(), StoreError> {
        let subscriptions = self.tx.inspect_subscriptions(tenant).await?;
        let counter = self.tx.inspect_counter(tenant).await?;
        let mut check = StreamCheck::begin(counter);
        let mut after = 0;
        loop {
            let page = self.tx.inspect_event_heads(tenant, after, PAGE).await?;
            let Some(last) = page.last() else { break };
            if after == 0 {
                self.report.streams += 1;
            }
            after = last.sequence;
            self.report.newest = self.report.newest.max(page.iter().map(|event| event.created_at).max());
            let ids: Vec<_> = page.iter().map(|event| event.id.clone()).collect();
            let mut deliveries: BTreeMap<_, Vec<EventDelivery>> = BTreeMap::new();
            for delivery in self.tx.inspect_deliveries(tenant, &ids).await? {
                deliveries.entry(delivery.event.clone()).or_default().push(delivery);
            }
            for event in &page {
                self.report.events += 1;
                self.found(check.add(event));
                let made = deliveries.remove(&event.id).unwrap_or_default();
                self.found(check_fan_out(event, &subscriptions, &made));
            }
        }
        self.found(check.end(counter));
        Ok(())
    }

    /// I1, I3, I7, I9, I10 and I14.
    async fn histories(&mut self, tenant: &Tenant) -> Result<(), StoreError> {
        let (mut resource, mut sequence) = (String::new(), 0);
        let mut history: Option<History> = None;
        let (mut from_events, mut shares) = (Vec::new(), Vec::new());
        let cut = self.removed_through(tenant).await? > 0;
        loop {
            let page = self.tx.inspect_events_by_record(tenant, (&resource, sequence), PAGE).await?;
            let Some(last) = page.last() else { break };
            (resource, sequence) = (last.resource_id.clone(), last.sequence);
            for event in &page {
                if history.as_ref().is_none_or(|history| history.resource_id() != event.resource_id) {
                    let ended = history.replace(History::begin(tenant, &event.resource_id, cut));
                    let (records, share) = ended.map(History::end).unwrap_or_default();
                    from_events.extend(records);
                    shares.extend(share);
                }
                if let Some(history) = &mut history {
                    let findings = history.add(event);
                    self.found(findings);
                }
            }
            if i64::try_from(from_events.len()).unwrap_or(i64::MAX) >= PAGE {
                self.records(tenant, std::mem::take(&mut from_events)).await?;
            }
            if i64::try_from(shares.len()).unwrap_or(i64::MAX) >= PAGE {
                self.shares(tenant, std::mem::take(&mut shares)).await?;
            }
        }
        let (records, share) = history.map(History::end).unwrap_or_default();
        from_events.extend(records);
        shares.extend(share);
        self.records(tenant, from_events).await?;
        self.shares(tenant, shares).await
    }

    /// Checks that the tenant, as a partner, received the events that its shares entitle it to.
    async fn shares(&mut self, tenant: &Tenant, from_events: Vec<ShareFromEvents>) -> Result<(), StoreError> {
        let ids: Vec<&str> = from_events.iter().map(|from_events| from_events.id.as_str()).collect();
        let stored = if ids.is_empty() { Vec::new() } else { self.tx.inspect_shares(tenant, &ids).await? };
        for from_events in &from_events {
            self.report.records += 1;
            self.found(check_share(from_events, stored.iter().find(|stored| stored.id == from_events.id)));
        }
        Ok(())
    }

    /// Shares without a copy in the partner's stream, and the count from which an owner's commits know whether to
    /// look for shares.
    async fn untold_shares(&mut self, tenant: &Tenant) -> Result<(), StoreError> {
        let removed = self.removed_through(tenant).await?;
        let limit = i64::try_from(FINDINGS_KEPT).unwrap_or(i64::MAX);
        for id in self.tx.inspect_untold_shares(tenant, removed, limit).await? {
            let detail = "no event of the partner's stream tells of this share";
            self.found([Finding::new(FindingCode::PartnerCopyMissing, id, detail)]);
        }
        let (said, there) = self.tx.inspect_share_count(tenant).await?;
        if said != there {
            let detail = format!("the stream counts {said} active shares, there are {there}");
            self.found([Finding::new(FindingCode::OrderShareDiffers, "stream", detail)]);
        }
        Ok(())
    }

    /// Checks that the records match their events.
    async fn records(
        &mut self,
        tenant: &Tenant,
        from_events: Vec<RecordFromEvents>,
    ) -> Result<(), StoreError> {
        for kind in RecordKind::ALL {
            let of_kind: Vec<&RecordFromEvents> =
                from_events.iter().filter(|from_events| from_events.kind == *kind).collect();
            let ids: Vec<&str> = of_kind.iter().map(|from_events| from_events.id.as_str()).collect();
            let stored = self.tx.inspect_records(tenant, *kind, &ids).await?;
            let stored: BTreeMap<&str, &StoredRecord> =
                stored.iter().map(|record| (record.id.as_str(), record)).collect();
            for from_events in of_kind {
                self.report.records += 1;
                self.found(check_record(from_events, stored.get(from_events.id.as_str()).copied()));
            }
        }
        Ok(())
    }

    /// The sequence up to which events of the stream were removed because of their age.
    async fn removed_through(&mut self, tenant: &Tenant) -> Result<i64, StoreError> {
        let counter = self.tx.inspect_counter(tenant).await?;
        Ok(counter.map_or(0, |counter| counter.removed_through))
    }

    /// The other half of I10. All events of a record may be gone if the record is older than the oldest retained
    /// event.
    async fn untold(&mut self, tenant: &Tenant) -> Result<(), StoreError> {
        let removed = self.removed_through(tenant).await?;
        for kind in RecordKind::ALL {
            let limit = i64::try_from(FINDINGS_KEPT).unwrap_or(i64::MAX);
            for id in self.tx.inspect_untold(tenant, *kind, removed, limit).await? {
                let detail = format!("no event tells of this {kind}");
                self.found([Finding::new(FindingCode::RecordWithoutEvent, id, detail)]);
            }
        }
        Ok(())
    }

    /// I1, I2, I4, I5 and I6.
    async fn orders(&mut self, tenant: &Tenant) -> Result<(), StoreError> {
        let mut after = None;
        loop {
            let page = self.tx.inspect_orders(tenant, after.as_ref(), PAGE).await?;
            for facts in page.orders {
                self.found(check_order(facts));
            }
            let Some(next) = page.next else { return Ok(()) };
            after = Some(next);
        }
    }

    /// I2 for money that arrived too late to create an order.
    async fn payments_without_order(&mut self, tenant: &Tenant) -> Result<(), StoreError> {
        let mut after = String::new();
        loop {
            let page = self.tx.inspect_payments_without_order(tenant, &after, PAGE).await?;
            for (payment, refunds) in page.payments {
                self.found(check_payment_without_order(payment, &refunds));
            }
            let Some(next) = page.next else { return Ok(()) };
            after = next;
        }
    }
}
