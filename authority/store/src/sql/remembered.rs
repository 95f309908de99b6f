//! What a transaction that writes has read and will find again.
//!
//! It holds the writers' turn, so that what was read stays true until its end, but for what its own jobs write. A
//! stream's counter moves here with every job that takes places of it, and back when the job is undone. Any other
//! statement that may write makes the transaction forget everything, and so does a job that is undone behind one.

use std::collections::HashMap;

use authority_domain::id::MerchantId;
use authority_domain::merchant::Merchant;
use authority_domain::tenant::Tenant;

use crate::ports::Subscriber;

/// A stream as the running job finds it.
#[derive(Clone, Debug)]
pub(super) struct Stream {
    pub(super) last_sequence: i64,
    /// Milliseconds since the Unix epoch.
    pub(super) last_created_at: i64,
    pub(super) subscribers: Vec<Subscriber>,
}

/// Merchants and streams.
#[derive(Default)]
pub(super) struct Remembered {
    merchants: HashMap<MerchantId, Merchant>,
    streams: HashMap<Tenant, Stream>,
    /// Streams that the running job moved, as they were before.
    moved: Vec<(Tenant, i64, i64)>,
}

impl Remembered {
    pub(super) fn merchant(&self, id: &MerchantId) -> Option<&Merchant> {
        self.merchants.get(id)
    }

    pub(super) fn note_merchant(&mut self, merchant: &Merchant) {
        self.merchants.insert(merchant.id.clone(), merchant.clone());
    }

    pub(super) fn stream(&self, tenant: &Tenant) -> Option<&Stream> {
        self.streams.get(tenant)
    }

    pub(super) fn note_stream(&mut self, tenant: &Tenant, stream: Stream) {
        self.streams.insert(tenant.clone(), stream);
    }

    /// The running job has taken places of a stream.
    pub(super) fn move_stream(&mut self, tenant: &Tenant, last_sequence: i64, last_created_at: i64) {
        if let Some(stream) = self.streams.get_mut(tenant) {
            self.moved.push((tenant.clone(), stream.last_sequence, stream.last_created_at));
            stream.last_sequence = last_sequence;
            stream.last_created_at = last_created_at;
        }
    }

    /// The running job's writes stay.
    pub(super) fn keep(&mut self) {
        self.moved.clear();
    }

    /// The running job's writes go.
    pub(super) fn undo(&mut self) {
        for (tenant, last_sequence, last_created_at) in self.moved.drain(..).rev() {
            if let Some(stream) = self.streams.get_mut(&tenant) {
                stream.last_sequence = last_sequence;
                stream.last_created_at = last_created_at;
            }
        }
    }

    pub(super) fn clear(&mut self) {
        self.merchants.clear();
        self.streams.clear();
        self.moved.clear();
    }
}
