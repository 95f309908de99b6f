//! What a job's transaction has for the dispatcher and the counter of events, once it is committed.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use authority_domain::EndpointId;

use super::handle::{CurrentDispatchHandle, HandedOff, give_back};

/// The effects of a job that are published after the commit.
#[derive(Debug, Default)]
pub(crate) struct CommitEffects {
    /// How many events.
    pub(crate) events: usize,
    /// Deliveries that this instance sends. When a job is undone they are dropped, and their slots with them.
    pub(crate) handed_off: Vec<HandedOff>,
    /// The endpoints of deliveries that nobody holds.
    pub(crate) left_behind: Vec<EndpointId>,
    /// Endpoints that were changed.
    pub(crate) recalled: Vec<EndpointId>,
}

impl CommitEffects {
    pub(crate) fn add(&mut self, more: Self) {
        self.events += more.events;
        self.handed_off.extend(more.handed_off);
        self.left_behind.extend(more.left_behind);
        self.recalled.extend(more.recalled);
    }
}

/// Who is notified of commits: the dispatcher of this instance, and the counter of events.
#[derive(Clone, Debug, Default)]
pub(crate) struct CommitListeners {
    /// The dispatch handle of this instance, if there is one.
    pub(crate) dispatch: CurrentDispatchHandle,
    /// All events that were committed.
    pub(crate) events: Arc<AtomicU64>,
}

impl CommitListeners {
    pub(crate) fn committed(&self, effects: CommitEffects) {
        self.events.fetch_add(u64::try_from(effects.events).unwrap_or(u64::MAX), Ordering::Relaxed);
        if let Some(dispatch) = self.dispatch.get().filter(|_| !effects.recalled.is_empty()) {
            for endpoint in &effects.recalled {
                dispatch.slots.changed(endpoint);
                (dispatch.recall)(endpoint);
            }
        }
        // What an earlier job of the transaction leased has the URL and the secrets from before a change of its
        // endpoint, and is not sent with them (contract 7.5). What was leased behind the change is not told apart.
        let is_outdated = |leased: &HandedOff| effects.recalled.contains(&leased.delivery.endpoint_id);
        let (outdated, current): (Vec<_>, Vec<_>) = effects.handed_off.into_iter().partition(is_outdated);
        give_back(outdated);
        for delivery in current {
            delivery.begin();
        }
        if !effects.left_behind.is_empty()
            && let Some(dispatch) = self.dispatch.get()
        {
            dispatch.slots.committed_behind(&effects.left_behind);
        }
    }
}
