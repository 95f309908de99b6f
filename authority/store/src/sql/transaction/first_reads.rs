//! What jobs declare that they will read first ([`Prefetch`]), and that of all queued jobs sorted by kind: each once,
//! and nothing that is cached or buffered.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use authority_domain::refund::RequesterType;
use authority_domain::{
    CheckoutId, MerchantId, OrderNumber, PaymentId, RefundId, ShipmentId, Tenant, Timestamp,
};

use crate::driver::Value;
use crate::shards::Shard;
use crate::sql::transaction::keys::{
    KeyScope, MessageId, answer_key, counter_key, message_key, order_key, refund_key, scope_columns,
    shipment_key,
};
use crate::sql::transaction::lookup_kinds::{
    ANSWERS, CHECKOUTS_TO_PAY, COUNTERS, MERCHANTS, MESSAGES, ORDERS, PAYMENTS, REFUNDS, SHIPMENTS,
    USED_FOR_REFUNDS, USED_FOR_SHIPMENTS,
};
use crate::sql::transaction::lookups::{Asked, Lookup};
use crate::sql::transaction::write_buffer::BufferedConnection;

/// What a job will read first, so that it can be read for all queued jobs together. The job may read anything else,
/// and need not read this.
#[derive(Clone, Debug)]
pub struct Prefetch {
    /// The merchant and mode it is about.
    pub tenant: Option<Tenant>,
    /// Its idempotency key.
    pub key: Option<(KeyScope, String)>,
    /// The records it is about.
    pub reads: Vec<FirstRead>,
    /// The time of the request.
    pub now: Timestamp,
}

/// A record that a job will read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FirstRead {
    /// A checkout of the job's tenant that is to be paid (`Tx::checkout_to_pay`).
    CheckoutToPay(CheckoutId),
    /// An earlier message of a processor (`Tx::processor_report_get`).
    Message(MessageId),
    /// An order of this tenant, with its payments, open refunds, shipments and marked lines.
    Order(Tenant, OrderNumber),
    /// The next generated order number of the job's tenant (`Tx::order_number_reserve`).
    OrderNumber,
    /// A payment, with what stands around it (`Tx::payment_find`). It may need an order number.
    Payment(PaymentId),
    /// A refund (`Tx::refund_get`).
    Refund(RefundId),
    /// The refund of this tenant that a requester made with this key (`Tx::refund_by_key`).
    RefundUnderKey(Tenant, RequesterType, String),
    /// A shipment (`Tx::shipment_find`).
    Shipment(ShipmentId),
    /// The shipment of this tenant that was made with this key (`Tx::shipment_by_key`).
    ShipmentUnderKey(Tenant, String),
}

impl Prefetch {
    /// Whether a merchant asks, with an idempotency key.
    pub(crate) fn is_of_merchant(&self) -> bool {
        matches!(self.key, Some((KeyScope::Merchant(_), _)))
    }
}

/// What queued jobs will read.
#[derive(Default)]
pub(crate) struct FirstReads<'j> {
    merchants: BTreeSet<&'j MerchantId>,
    pub(crate) checkouts: Ids<'j>,
    /// Payments, refunds and shipments.
    payments: Ids<'j>,
    refunds: Ids<'j>,
    shipments: Ids<'j>,
    /// By the keys that they are buffered under, and so are the following. The columns of an idempotency key.
    pub(crate) answers: BTreeMap<String, (Shard, Cow<'j, str>, bool, &'j str)>,
    pub(crate) messages: BTreeMap<String, &'j MessageId>,
    pub(crate) orders: BTreeMap<String, (&'j Tenant, &'j OrderNumber)>,
    refund_keys: BTreeMap<String, KeyColumns<'j>>,
    shipment_keys: BTreeMap<String, KeyColumns<'j>>,
    pub(crate) counters: BTreeMap<String, &'j Tenant>,
    /// How many order numbers the jobs of a tenant may take.
    pub(crate) numbers: BTreeMap<&'j Tenant, usize>,
}

/// Ids of records, each with its shard.
pub(crate) type Ids<'j> = BTreeMap<&'j str, Shard>;

/// The columns of a key that may be in use.
pub(crate) struct KeyColumns<'j> {
    pub(crate) tenant: &'j Tenant,
    /// The idempotency key or order number.
    pub(crate) text: Cow<'j, str>,
    /// Who asks for a refund.
    pub(crate) requester: &'static str,
}

impl<'j> FirstReads<'j> {
    pub(crate) fn of(jobs: &[&'j Prefetch], conn: &BufferedConnection) -> Self {
        let mut all = Self::default();
        for job in jobs {
            all.add_request(job);
            for read in &job.reads {
                all.add(job, read);
            }
        }
        all.leave_out_what_is_known(conn);
        all
    }

    /// The questions of every writing request.
    fn add_request(&mut self, job: &'j Prefetch) {
        if let Some(tenant) = &job.tenant {
            self.merchants.insert(&tenant.merchant_id);
        }
        if let Some((scope, key)) = &job.key {
            let (shard, merchant_id, livemode) = scope_columns(scope);
            self.answers.insert(answer_key(&merchant_id, livemode, key), (shard, merchant_id, livemode, key));
        }
    }

    fn add(&mut self, job: &'j Prefetch, read: &'j FirstRead) {
        match read {
            FirstRead::CheckoutToPay(id) => add_id(&mut self.checkouts, job, id.as_str()),
            FirstRead::Message(message) => drop(self.messages.insert(message_key(message), message)),
            FirstRead::Order(tenant, number) => {
                let key = order_key(&tenant.merchant_id, tenant.livemode, number);
                self.orders.insert(key, (tenant, number));
            }
            FirstRead::OrderNumber => self.add_number(job),
            FirstRead::Payment(id) => {
                add_id(&mut self.payments, job, id.as_str());
                self.add_number(job);
            }
            FirstRead::Refund(id) => add_id(&mut self.refunds, job, id.as_str()),
            FirstRead::RefundUnderKey(tenant, requester, key) => {
                let of = KeyColumns { tenant, text: Cow::Borrowed(key), requester: requester.as_str() };
                self.refund_keys.insert(refund_key(tenant, *requester, key), of);
            }
            FirstRead::Shipment(id) => add_id(&mut self.shipments, job, id.as_str()),
            FirstRead::ShipmentUnderKey(tenant, key) => {
                let of = KeyColumns { tenant, text: Cow::Borrowed(key), requester: "" };
                self.shipment_keys.insert(shipment_key(tenant, key), of);
            }
        }
    }

    fn add_number(&mut self, job: &'j Prefetch) {
        if let Some(tenant) = &job.tenant {
            self.counters.insert(counter_key(tenant), tenant);
            *self.numbers.entry(tenant).or_default() += 1;
        }
    }

    /// Leaves out what is cached or buffered, and the kinds of which there is too little.
    fn leave_out_what_is_known(&mut self, conn: &BufferedConnection) {
        let worth = conn.dialect().worth_looking_up;
        self.merchants.retain(|id| !conn.cache.merchants.contains_key(id));
        self.counters.retain(|key, tenant| !conn.cache.counters.contains_key(tenant) && !conn.waits(key));
        for ids in [&mut self.checkouts, &mut self.payments, &mut self.refunds, &mut self.shipments] {
            ids.retain(|id, _| !conn.waits(id));
            if ids.len() < worth {
                ids.clear();
            }
        }
        keep_new(&mut self.refund_keys, conn);
        keep_new(&mut self.shipment_keys, conn);
        keep_new(&mut self.answers, conn);
        keep_new(&mut self.messages, conn);
        keep_new(&mut self.orders, conn);
        if self.merchants.len() < worth {
            self.merchants.clear();
        }
        if self.counters.len() < worth {
            self.counters.clear();
        }
    }

    /// The ids of payments, refunds and shipments.
    pub(crate) fn records(&self) -> impl Iterator<Item = &'j str> {
        [&self.payments, &self.refunds, &self.shipments].into_iter().flat_map(|ids| ids.keys().copied())
    }

    /// The keys of refunds and shipments that may be in use.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &String> {
        self.refund_keys.keys().chain(self.shipment_keys.keys())
    }

    /// What all requests ask, and what only some of them do.
    pub(crate) fn asked(&self) -> (Vec<Asked>, Vec<Asked>) {
        let every = vec![
            Asked::new(&MERCHANTS, self.merchants.iter().map(|id| [id.as_str().into()])),
            Asked::new(
                &ANSWERS,
                self.answers.values().map(|(shard, merchant, livemode, key)| {
                    [merchant.as_ref().into(), (*livemode).into(), (*key).into(), (*shard).into()]
                }),
            ),
        ];
        let some = vec![
            Asked::new(
                &COUNTERS,
                self.counters.values().map(|tenant| {
                    let shard = Shard::of(&tenant.merchant_id);
                    [tenant.merchant_id.as_str().into(), tenant.livemode.into(), shard.into()]
                }),
            ),
            ids(&CHECKOUTS_TO_PAY, &self.checkouts),
            ids(&PAYMENTS, &self.payments),
            ids(&REFUNDS, &self.refunds),
            ids(&SHIPMENTS, &self.shipments),
            orders(self.orders.values().copied()),
            Asked::new(&MESSAGES, self.messages.iter().map(|(key, message)| message_columns(key, message))),
            keys(&USED_FOR_REFUNDS, &self.refund_keys),
            keys(&USED_FOR_SHIPMENTS, &self.shipment_keys),
        ];
        (every, some)
    }
}

fn keep_new<T>(keys: &mut BTreeMap<String, T>, conn: &BufferedConnection) {
    keys.retain(|key, _| !conn.waits(key));
    if keys.len() < conn.dialect().worth_looking_up {
        keys.clear();
    }
}

/// The records of a job are its tenant's. Those of a job that names none it reads by itself.
fn add_id<'j>(ids: &mut Ids<'j>, job: &Prefetch, id: &'j str) {
    if let Some(tenant) = &job.tenant {
        ids.insert(id, Shard::of(&tenant.merchant_id));
    }
}

fn ids(lookup: &'static Lookup, ids: &Ids<'_>) -> Asked {
    Asked::new(lookup, ids.iter().map(|(id, shard)| [(*id).into(), (*shard).into()]))
}

/// Which of these keys are in use.
pub(crate) fn keys(lookup: &'static Lookup, keys: &BTreeMap<String, KeyColumns<'_>>) -> Asked {
    Asked::new(
        lookup,
        keys.iter().map(|(key, KeyColumns { tenant, text, requester })| {
            [
                tenant.merchant_id.as_str().into(),
                tenant.livemode.into(),
                text.as_ref().into(),
                (*requester).into(),
                key.as_str().into(),
                Shard::of(&tenant.merchant_id).into(),
            ]
        }),
    )
}

/// These orders, with what belongs to them.
pub(crate) fn orders<'o>(orders: impl Iterator<Item = (&'o Tenant, &'o OrderNumber)>) -> Asked {
    Asked::new(
        &ORDERS,
        orders.map(|(tenant, number)| {
            let shard = Shard::of(&tenant.merchant_id);
            [tenant.merchant_id.as_str().into(), tenant.livemode.into(), number.as_str().into(), shard.into()]
        }),
    )
}

fn message_columns<'a>(key: &'a str, message: &'a MessageId) -> [Value<'a>; 7] {
    let MessageId { tenant, processor, kind, event_id } = message;
    [
        tenant.merchant_id.as_str().into(),
        tenant.livemode.into(),
        processor.as_str().into(),
        kind.as_str().into(),
        event_id.as_str().into(),
        key.into(),
        Shard::of(&tenant.merchant_id).into(),
    ]
}
