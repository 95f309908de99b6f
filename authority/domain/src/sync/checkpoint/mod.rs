//! Checkpoints: how far a consumer says it has come in a feed (contract 2.13, 4.12).
//!
//! A consumer processes a page, stores the result, and then acknowledges the page's cursor under its own name. The
//! checkpoint keeps the cursor, so that the consumer can continue from it after losing all its state, and the
//! cursor's position, which shows how far behind the consumer is. A checkpoint never moves backwards unless its
//! consumer forces it, so two processes of one consumer that disagree notice it.
//!
//! Deliberately absent: any effect on what the feeds give. A checkpoint is what its consumer says, and nothing more.

use serde::Serialize;

use crate::error_code::ErrorCode;
use crate::id::CheckpointId;
use crate::refusal::{Refusal, Result};
use crate::text_enum::text_enum;
use crate::time::Timestamp;

/// How many checkpoints one merchant may have per mode, those of both feeds together (contract 4.12).
pub const CHECKPOINTS_MAX: i64 = 100;

/// Longest name, in characters.
const NAME_LIMIT: usize = 64;

text_enum! {
    /// Which feed a checkpoint is about.
    CheckpointStream {
        /// `/events`
        Events = "events",
        /// `/sync/orders`
        Orders = "orders",
    }
}

/// What a consumer says it has processed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Acknowledged {
    /// The consumer.
    pub name: String,
    /// The feed.
    pub stream: CheckpointStream,
    /// As the feed gave it out.
    pub cursor: String,
    /// The sequence that the cursor stands at.
    pub position: i64,
    /// Backwards as well.
    pub force: bool,
}

/// A checkpoint as it is stored. Its lag depends on the time of reading: [`Checkpoint::seen_at`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    /// Identifies the checkpoint.
    pub id: CheckpointId,
    /// The consumer; one checkpoint per name and feed.
    pub name: String,
    /// The feed.
    pub stream: CheckpointStream,
    /// The last acknowledged cursor.
    pub cursor: String,
    /// The sequence that it stands at; 0 before the first event.
    pub position: i64,
    /// Counts the moves, from 1.
    pub resource_version: i64,
    /// The mode of the feed.
    pub livemode: bool,
    /// When it was first acknowledged.
    pub created_at: Timestamp,
    /// When it was last moved.
    pub updated_at: Timestamp,
}

/// How far a consumer has come in a feed, in the member order of contract 2.13.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "object", rename = "checkpoint")]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(transform = crate::schema::members!("name": Pattern("^[a-z0-9][a-z0-9._-]{0,63}$")))
)]
pub struct SeenCheckpoint {
    /// Identifies the checkpoint.
    pub id: CheckpointId,
    /// The consumer; one checkpoint per name and feed.
    pub name: String,
    /// Which feed the cursor belongs to.
    pub stream: CheckpointStream,
    /// The last acknowledged cursor.
    pub cursor: String,
    /// The sequence that the cursor stands at, for display and lag only; 0 before the first event.
    pub position: i64,
    /// Events of the merchant's stream behind that place, whatever they are about.
    pub lag_events: i64,
    /// When it was last moved.
    pub acknowledged_at: Timestamp,
    /// Counts the moves, from 1.
    pub resource_version: i64,
    /// `false` for test data, which never mixes with live data.
    pub livemode: bool,
    /// When it was first acknowledged.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

impl Checkpoint {
    /// The first acknowledgement under a name.
    #[must_use]
    pub fn begin(id: CheckpointId, said: Acknowledged, livemode: bool, now: Timestamp) -> Self {
        let Acknowledged { name, stream, cursor, position, .. } = said;
        Self {
            id,
            name,
            stream,
            cursor,
            position,
            resource_version: 1,
            livemode,
            created_at: now,
            updated_at: now,
        }
    }

    /// The checkpoint after a further acknowledgement; `None` when it stands there already, by whatever cursor.
    ///
    /// # Errors
    /// `checkpoint_regression` when it would move backwards and nobody insists.
    pub fn moved(self, said: Acknowledged, now: Timestamp) -> Result<Option<Self>> {
        let Acknowledged { cursor, position, force, .. } = said;
        if position == self.position {
            return Ok(None);
        }
        if position < self.position && !force {
            let current = self.position;
            let detail =
                format!("The checkpoint stands at {current}; the cursor stands at {position}, before it.");
            return Err(
                Refusal::new(ErrorCode::CheckpointRegression, detail).with("current_position", current)
            );
        }
        let resource_version = self.resource_version + 1;
        let updated_at = now.max(self.updated_at);
        Ok(Some(Self { cursor, position, resource_version, updated_at, ..self }))
    }

    /// The checkpoint as it is shown while its stream's last sequence is `latest`.
    #[must_use]
    pub fn seen_at(self, latest: i64) -> SeenCheckpoint {
        SeenCheckpoint {
            lag_events: self.lag(latest),
            id: self.id,
            name: self.name,
            stream: self.stream,
            cursor: self.cursor,
            position: self.position,
            acknowledged_at: self.updated_at,
            resource_version: self.resource_version,
            livemode: self.livemode,
            created_at: self.created_at,
            updated_at: self.updated_at,
        }
    }

    /// How many events its stream has behind it; never fewer than none.
    #[must_use]
    pub fn lag(&self, latest: i64) -> i64 {
        (latest - self.position).max(0)
    }
}

/// Whether a text may name a checkpoint: `^[a-z0-9][a-z0-9._-]{0,63}$` (contract 2.13).
#[must_use]
pub fn is_checkpoint_name(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    text.len() <= NAME_LIMIT
        && text.bytes().next().is_some_and(plain)
        && text.bytes().all(|byte| plain(byte) || matches!(byte, b'.' | b'_' | b'-'))
}

/// What a checkpoint beyond the hundredth is refused with.
#[must_use]
pub fn too_many_checkpoints() -> Refusal {
    let detail = format!(
        "There are {CHECKPOINTS_MAX} checkpoints already; names are for consumers, not for processes."
    );
    Refusal::new(ErrorCode::CheckpointLimitReached, detail)
}

#[cfg(test)]
mod tests;
