//! What each endpoint was, and when, as far as its merchant can know.
//!
//! A merchant sees when it sent a change and when that was answered; the change took effect at some moment between. So
//! of any time it can be said which states were possible in it, and where only one was possible, what must hold is
//! certain. What an endpoint becomes by itself (disabled, after its receiver said 410) is added by the judge.

/// Whether an endpoint gets deliveries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    Enabled,
    Disabled,
    Deleted,
}

/// What an endpoint is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct State {
    pub(crate) standing: Standing,
    /// The path of its URL.
    pub(crate) path: String,
    /// Those that sign, newest first.
    pub(crate) secrets: Vec<String>,
}

/// From when on an endpoint was something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Era {
    /// When the change was first asked for, Unix milliseconds.
    pub(crate) asked_at: i64,
    /// When it was answered.
    pub(crate) answered_at: i64,
    pub(crate) state: State,
    /// Whether it was asked for that the endpoint is enabled or disabled, whatever it was before.
    pub(crate) sets_standing: bool,
}

/// The eras of one endpoint, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct History {
    /// `we_…`
    pub(crate) endpoint: String,
    /// `mer_…`
    pub(crate) merchant: String,
    /// `*`, names and `<category>.*`.
    pub(crate) enabled_events: Vec<String>,
    pub(crate) eras: Vec<Era>,
    /// Whether it caught up in the end on everything that it had missed.
    pub(crate) recovered: bool,
}

impl History {
    /// Whether the endpoint wants events of this type.
    pub(crate) fn wants(&self, event_type: &str) -> bool {
        self.enabled_events.iter().any(|wanted| {
            wanted == "*"
                || wanted == event_type
                || wanted.strip_suffix('*').is_some_and(|category| event_type.starts_with(category))
        })
    }

    /// What the endpoint may have been at some moment from `from` to `to`; `None` among them when it may not have
    /// existed yet.
    pub(crate) fn possible(&self, from: i64, to: i64) -> Vec<Option<&Era>> {
        let before = self.eras.first().is_none_or(|first| first.answered_at >= from);
        let eras = self.eras.iter().enumerate().filter(|(at, era)| {
            let next = self.eras.get(at + 1);
            era.asked_at <= to && next.is_none_or(|next| next.answered_at >= from)
        });
        before.then_some(None).into_iter().chain(eras.map(|(_, era)| Some(era))).collect()
    }
}
