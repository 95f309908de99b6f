//! What waiting jobs will read first, sorted by kind.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use authority_domain::order::number::OrderNumber;
use authority_domain::tenant::Tenant;

use super::orders::order_key;
use super::payments::report_key;
use super::refunds::refund_key;
use super::shipments::shipment_key;
use super::unused_keys::KeyColumns;
use crate::ports::{FirstRead, MessageId, Prefetch};

/// What waiting jobs will read, each once.
#[derive(Default)]
pub(super) struct FirstReads<'j> {
    pub(super) checkouts: BTreeSet<&'j str>,
    pub(super) payments: BTreeSet<&'j str>,
    pub(super) refunds: BTreeSet<&'j str>,
    pub(super) shipments: BTreeSet<&'j str>,
    /// By the keys that they are buffered under, and so are the following.
    pub(super) messages: BTreeMap<String, &'j MessageId>,
    pub(super) orders: BTreeMap<String, (&'j Tenant, &'j OrderNumber)>,
    pub(super) refund_keys: BTreeMap<String, KeyColumns<'j>>,
    pub(super) shipment_keys: BTreeMap<String, KeyColumns<'j>>,
    /// How many order numbers the jobs of a tenant may take.
    pub(super) numbers: BTreeMap<&'j Tenant, usize>,
}

impl<'j> FirstReads<'j> {
    pub(super) fn of(jobs: &[&'j Prefetch]) -> Self {
        let mut all = Self::default();
        for job in jobs {
            for read in &job.reads {
                all.add(job, read);
            }
        }
        all
    }

    fn add(&mut self, job: &'j Prefetch, read: &'j FirstRead) {
        match read {
            FirstRead::CheckoutToPay(id) => drop(self.checkouts.insert(id.as_str())),
            FirstRead::Message(message) => drop(self.messages.insert(report_key(message), message)),
            FirstRead::Order(tenant, number) => {
                let key = order_key(&tenant.merchant_id, tenant.livemode, number);
                self.orders.insert(key, (tenant, number));
            }
            FirstRead::OrderNumber => self.add_number(job),
            FirstRead::Payment(id) => {
                self.payments.insert(id.as_str());
                self.add_number(job);
            }
            FirstRead::Refund(id) => drop(self.refunds.insert(id.as_str())),
            FirstRead::RefundUnderKey(tenant, requester, key) => {
                let of = KeyColumns { tenant, text: Cow::Borrowed(key), requester: requester.as_str() };
                self.refund_keys.insert(refund_key(tenant, *requester, key), of);
            }
            FirstRead::Shipment(id) => drop(self.shipments.insert(id.as_str())),
            FirstRead::ShipmentUnderKey(tenant, key) => {
                let of = KeyColumns { tenant, text: Cow::Borrowed(key), requester: "" };
                self.shipment_keys.insert(shipment_key(tenant, key), of);
            }
        }
    }

    fn add_number(&mut self, job: &'j Prefetch) {
        if let Some(tenant) = &job.tenant {
            *self.numbers.entry(tenant).or_default() += 1;
        }
    }
}
