//! What all pages have: their frame, what happened just now, and what a form needs.

use std::sync::Arc;

use authority_domain::refusal::Refusal;

use crate::app::console::sessions::SignedIn;
use crate::dice::Dice;

/// The frame of a page of somebody who is signed in.
#[derive(Clone)]
pub(super) struct Shell {
    /// The name of the operator key.
    pub(super) who: String,
    /// What every form carries.
    pub(super) token: String,
    /// What was done just now.
    pub(super) notice: Option<&'static str>,
    /// Why a form was refused.
    pub(super) refused: Option<Refused>,
    /// What was searched for.
    pub(super) searched: String,
    dice: Arc<dyn Dice>,
}

/// A refusal in words.
#[derive(Clone, Debug)]
pub(super) struct Refused {
    /// The code of the API.
    pub(super) code: &'static str,
    /// What is wrong.
    pub(super) detail: String,
    /// The wrong members, with what is wrong about each.
    pub(super) members: Vec<(String, String)>,
    /// The status of the answer.
    pub(super) status: u16,
}

impl From<Refusal> for Refused {
    fn from(refusal: Refusal) -> Self {
        let member = |(pointer, detail): (&str, &str)| {
            (pointer.trim_start_matches('/').replace('/', " › "), detail.to_owned())
        };
        let members = refusal.members.iter().map(|wrong| member((&wrong.pointer, &wrong.detail)));
        Self {
            code: refusal.code.as_str(),
            members: members.collect(),
            status: refusal.code.status(),
            detail: refusal.detail,
        }
    }
}

impl Shell {
    /// The frame for this session; `done` is what the redirect behind a form says that it did.
    pub(super) fn new(who: &SignedIn, done: Option<&str>, dice: Arc<dyn Dice>) -> Self {
        Self {
            who: who.key_name.clone(),
            token: who.form_token.clone(),
            notice: done.and_then(sentence),
            refused: None,
            searched: String::new(),
            dice,
        }
    }

    /// A fresh idempotency key, so that a form that is sent twice is done once.
    pub(super) fn once(&self) -> String {
        let mut random = [0; 16];
        self.dice.fill(&mut random);
        hex::encode(random)
    }
}

/// What a form did. A closed list, so that no link can put words on a page.
fn sentence(done: &str) -> Option<&'static str> {
    Some(match done {
        "retried" => "The delivery is sent now.",
        "replayed" => "The event is sent once more.",
        "refunded" => "The refund was requested.",
        "changed" => "The endpoint was changed.",
        "unchanged" => "The endpoint was like this already.",
        "disabled" => "The endpoint is disabled.",
        "enabled" => "The endpoint is enabled.",
        "tested" => "A test event is on its way.",
        "retired" => "The previous secret no longer signs.",
        "recovering" => "The recovery has begun.",
        "recovery-cancelled" => "The recovery was cancelled.",
        "closed" => "The alert is closed.",
        _ => return None,
    })
}
