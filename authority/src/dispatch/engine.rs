//! The dispatcher: lease, act, settle (contract 7.4, 12 T4, T5, T8, 15.9).
//!
//! The dispatcher registers a [`DispatchHandle`] with its free slots. The store's writer leases deliveries to it,
//! fresh ones in the transaction that creates them, and hands them off after the commit. Each delivery is sent in a
//! task of its own while no transaction is open (`attempts`). Its outcome goes to the settler, which leases the next
//! deliveries in the transaction that writes outcomes. Deliveries that neither of them sees are found by a claim
//! over everything that is due. Such a claim runs when a delivery had to be left without a lease and no attempt in
//! flight will lead back to it, and with every poll. The poll is what correctness rests on.
//!
//! A dispatcher that dies leaves nothing behind: its leases run out, and the next dispatcher sends again. Dropping
//! the future of [`Dispatcher::run`] has the same effect: none of its tasks continues. To stop in order, the
//! dispatcher takes no more deliveries, gives back those that it has not begun, lets the attempts in flight end, and
//! waits until every outcome is written.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use authority_domain::delivery::retry::RetryPolicy;
use authority_domain::endpoint::condition::DisablePolicy;
use authority_domain::endpoint::url::UrlRulesByOwner;
use authority_domain::{EndpointId, MerchantId, Timestamp};
use authority_store::claims::{Among, claim};
use authority_store::hand_off::DispatchHandle;
use authority_store::shards::{Shard, ShardSet, Turns};
use authority_store::slots::{Capacity, Slots};
use authority_store::tx::Tx;
use authority_store::{Store, StoreError};
use rand::SeedableRng;
use rand::rngs::StdRng;
use tokio::sync::{mpsc, watch};
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::timeout;

use super::attempts::Attempts;
use super::identity::Identities;
use super::sender::Sender;
use super::settle::Settler;
use super::transport::Transport;
use crate::clock::Clock;
use crate::dice::Dice;
use crate::metrics::Metrics;
use crate::secret_box::SecretBox;
use crate::traces::Traces;

/// How often to look for due deliveries without a hint (contract 12 T5).
const POLL: Duration = Duration::from_secs(1);

/// How long to wait before a claim over all endpoints when slots are short.
const SHORT_PAUSE: Duration = Duration::from_millis(100);

/// How long a lease lasts (contract 7.4). An attempt may take the timeout (at most 50 s) and 2 s for the response's
/// body; the rest of the lease is for beginning the attempt and for writing its outcome.
const LEASE_MS: i64 = 60_000;

/// How long the service waits, when it stops, for outcomes to be written after the last attempt.
const SETTLE_WAIT: Duration = Duration::from_secs(10);

/// Outcomes buffered for the settler. When the buffer is full, attempts wait before they report theirs.
const OUTCOMES_MAX: usize = 1024;

/// The dispatcher and everything that it works with.
pub struct Dispatcher {
    /// The database.
    pub store: Store,
    /// Tells the time.
    pub clock: Arc<dyn Clock>,
    /// Makes the tokens of leases and the jitter of waits.
    pub dice: Arc<dyn Dice>,
    /// Opens signing secrets.
    pub secrets: Arc<SecretBox>,
    /// Sends.
    pub transport: Arc<dyn Transport>,
    /// When to try again.
    pub retry: RetryPolicy,
    /// When to disable an endpoint.
    pub disable: DisablePolicy,
    /// Where events may be sent; checked again at every attempt.
    pub urls: UrlRulesByOwner,
    /// Quick requests in flight, all endpoints together.
    pub concurrency: u32,
    /// Requests in flight to an endpoint that has no setting of its own.
    pub max_in_flight: u32,
    /// Counts attempts.
    pub metrics: Arc<Metrics>,
    /// Records attempts.
    pub traces: Traces,
}

impl Dispatcher {
    /// Delivers until `stop` turns true; returns when nothing is in flight and every outcome is written.
    pub async fn run(self, mut stop: watch::Receiver<bool>) {
        let (finished, outcomes) = mpsc::channel(OUTCOMES_MAX);
        let slots = Slots::new(Capacity::of(usize::try_from(self.concurrency).unwrap_or(usize::MAX)));
        let attempts = Attempts::begin_with(Sender {
            store: self.store.clone(),
            clock: Arc::clone(&self.clock),
            secrets: self.secrets,
            identities: Identities::default(),
            transport: self.transport,
            urls: self.urls,
            metrics: self.metrics,
            traces: self.traces,
            slots: Arc::clone(&slots),
            finished,
        });
        let begin = attempts.beginning();
        let settler = Settler {
            store: self.store.clone(),
            clock: Arc::clone(&self.clock),
            retry: self.retry,
            disable: self.disable,
            dice: Mutex::new(StdRng::from_seed(random(self.dice.as_ref()))),
            slots: Arc::clone(&slots),
            begin: begin.clone(),
        };
        // Dropped with this future, as are the attempts: nothing of a dispatcher outlives it.
        let mut settling = JoinSet::new();
        settling.spawn(self.store.supervisor().clone().watch("settler", settler.run(outcomes)));
        let (recall, returned) = (begin.clone(), begin.clone());
        let (dice, jobs) = (self.dice, watch::Sender::new(()));
        let instance = hex::encode(random::<8>(dice.as_ref()));
        let dispatch = DispatchHandle {
            slots: Arc::clone(&slots),
            token: token(&instance, dice.as_ref()),
            lease_ms: LEASE_MS,
            max_in_flight: i64::from(self.max_in_flight),
            new_token: Box::new(move || token(&instance, dice.as_ref())),
            begin: Box::new(move |delivery| begin.hand_off(delivery)),
            recall: Box::new(move |endpoint| recall.recall(endpoint)),
            give_back: Box::new(move |outdated| returned.give_back(outdated)),
            jobs: jobs.clone(),
        };
        let open = self.store.register_dispatch(Arc::new(dispatch));
        let mut late = LateClaims::default();
        while !*stop.borrow() {
            attempts.give_back_stale();
            if slots.take_short() {
                // A freed slot goes to another endpoint's delivery; finding that delivery costs the writer time.
                tokio::time::sleep(SHORT_PAUSE).await;
            }
            if look_everywhere(&self.store, &self.clock, &slots, &mut late).await {
                continue;
            }
            tokio::select! {
                () = slots.wanted() => {}
                () = tokio::time::sleep(POLL) => {}
                changed = stop.changed() => if changed.is_err() { break },
            }
        }
        drop(open);
        attempts.stop(&self.store, &jobs).await;
        // Every attempt's task held the sender: the settler ends when the last of them has reported its outcome.
        // While the database does not answer, its deliveries are sent again when their leases run out.
        if timeout(SETTLE_WAIT, settling.join_next()).await.is_err() {
            tracing::warn!("outcomes could not be written in time: their deliveries are sent again");
        }
    }
}

/// The claims of shards whose turns somebody else had. No shard waits for another one's.
#[derive(Default)]
struct LateClaims {
    tasks: JoinSet<()>,
    shards: BTreeMap<Shard, AbortHandle>,
}

impl LateClaims {
    /// Begins a claim for each shard of what was left, unless one is under way.
    fn begin(&mut self, store: &Store, clock: &Arc<dyn Clock>, left: Vec<(EndpointId, MerchantId)>) {
        while self.tasks.try_join_next().is_some() {}
        self.shards.retain(|_, claim| !claim.is_finished());
        let mut shards: BTreeMap<Shard, Vec<(EndpointId, MerchantId)>> = BTreeMap::new();
        for (endpoint, merchant) in left {
            shards.entry(Shard::of(&merchant)).or_default().push((endpoint, merchant));
        }
        for (shard, due) in shards {
            if let Entry::Vacant(claim) = self.shards.entry(shard) {
                claim.insert(self.tasks.spawn(claim_late(store.clone(), Arc::clone(clock), due)));
            }
        }
    }
}

/// Leases everything that is due. True when there may be more.
async fn look_everywhere(
    store: &Store,
    clock: &Arc<dyn Clock>,
    slots: &Slots,
    late: &mut LateClaims,
) -> bool {
    let claimed = match store.has_turns() {
        true => claim_where_due(store, clock, slots, late).await,
        false => claim_everywhere(store, clock).await,
    };
    claimed.unwrap_or_else(|error: StoreError| {
        tracing::warn!(error = %error, "no deliveries could be leased");
        false
    })
}

async fn claim_everywhere(store: &Store, clock: &Arc<dyn Clock>) -> Result<bool, StoreError> {
    let clock = Arc::clone(clock);
    store
        .write(move |tx: &mut Tx| {
            Box::pin(async move {
                // Read when the writer runs the job: with an earlier time, part of the lease would already be over.
                claim(tx, Among::All, Timestamp::from_ms(clock.now_ms())).await
            })
        })
        .await
}

/// The same where others write at the same time: what is due is read first, so that a look that finds nothing takes no
/// turn, and one that finds something takes only the turns of its merchants. What it cannot have now is claimed shard
/// by shard, beside the next looks.
async fn claim_where_due(
    store: &Store,
    clock: &Arc<dyn Clock>,
    slots: &Slots,
    late: &mut LateClaims,
) -> Result<bool, StoreError> {
    let now = Timestamp::from_ms(clock.now_ms());
    let due = store
        .read_list(move |tx: &mut Tx| Box::pin(async move { tx.endpoints_due(now).await }))
        .await
        .map_err(|error: StoreError| error)?;
    if due.is_empty() {
        slots.looked_everywhere(|_| false);
        return Ok(false);
    }
    let turns = Turns::at_once(due.iter().map(|(_, merchant)| merchant).collect());
    let time = Arc::clone(clock);
    let (may_be_more, left) = store
        .write_with(turns, move |tx: &mut Tx| {
            Box::pin(async move {
                let may_be_more = claim(tx, Among::Due(&due), Timestamp::from_ms(time.now_ms())).await?;
                let left: Vec<_> = due.into_iter().filter(|(_, merchant)| !tx.holds(merchant)).collect();
                Ok::<_, StoreError>((may_be_more, left))
            })
        })
        .await?;
    late.begin(store, clock, left);
    Ok(may_be_more)
}

/// Leases what is due to these endpoints, whose shard somebody else was writing for. The job is about that shard alone:
/// it goes along with whoever here has waited for the turn, where it is never free, and waits itself where nobody does
/// (`late`).
async fn claim_late(store: Store, clock: Arc<dyn Clock>, due: Vec<(EndpointId, MerchantId)>) {
    let shards: ShardSet = due.iter().map(|(_, merchant)| merchant).collect();
    for turns in [Turns::some_of(shards), Turns::each(shards)] {
        let (clock, due) = (Arc::clone(&clock), due.clone());
        let claimed = store
            .write_with(turns, move |tx: &mut Tx| {
                Box::pin(async move {
                    claim(tx, Among::SomeDue(&due), Timestamp::from_ms(clock.now_ms())).await?;
                    Ok::<_, StoreError>(due.iter().all(|(_, merchant)| tx.holds(merchant)))
                })
            })
            .await;
        match claimed {
            Ok(true) => return,
            Ok(false) => {}
            Err(error) => {
                tracing::warn!(error = %error, "no deliveries could be leased");
                return;
            }
        }
    }
}

/// A token: the instance's 64 bits, then 64 random ones.
fn token(instance: &str, dice: &dyn Dice) -> String {
    format!("{instance}{}", hex::encode(random::<8>(dice)))
}

fn random<const N: usize>(dice: &dyn Dice) -> [u8; N] {
    let mut bytes = [0; N];
    dice.fill(&mut bytes);
    bytes
}
