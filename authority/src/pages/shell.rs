//! What all pages have: their frame, what happened just now, and what a form needs.

use std::sync::Arc;

use authority_domain::Refusal;

use super::live::Live;
use super::{Site, Visitor};
use crate::dice::Dice;
use crate::http::AppState;
use crate::http::brand::Brand;

/// How often a page that follows loads itself again, in seconds.
const FOLLOWS_EVERY_S: u32 = 10;

/// A page in the head of each page.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    /// Its name.
    pub(crate) name: &'static str,
    /// Its path.
    pub(crate) path: String,
}

/// The frame of a page of nobody.
pub(crate) struct Bare {
    /// The site.
    pub(crate) site: &'static Site,
    /// How it looks.
    pub(crate) brand: Option<Arc<Brand>>,
}

impl Bare {
    /// The frame of a site's page.
    pub(crate) fn of<W: Visitor>(state: &AppState) -> Self {
        Self { site: W::SITE, brand: W::brand(state) }
    }

    /// As titles call the site.
    pub(crate) fn name(&self) -> &str {
        name_of(self.site, self.brand.as_deref())
    }
}

fn name_of<'n>(site: &'static Site, brand: Option<&'n Brand>) -> &'n str {
    brand.and_then(|brand| brand.name.as_deref()).unwrap_or(site.name)
}

/// The frame of a page of somebody who is signed in.
#[derive(Clone)]
pub(crate) struct Shell {
    /// The site.
    pub(crate) site: &'static Site,
    /// How it looks.
    pub(crate) brand: Option<Arc<Brand>>,
    /// The pages in the head.
    pub(crate) places: Vec<Place>,
    /// The page keeps itself up to date, where a browser runs its script.
    pub(crate) live: Option<Live>,
    /// Elsewhere it loads itself again after so many seconds, because the visitor asked for it.
    pub(crate) follows: Option<u32>,
    /// Where the site leads back to.
    pub(crate) way_back: Option<String>,
    /// As the head of the page calls the visitor.
    pub(crate) who: String,
    /// What every form carries.
    pub(crate) token: String,
    /// What was done just now.
    pub(crate) notice: Option<&'static str>,
    /// Why a form was refused.
    pub(crate) refused: Option<Refused>,
    /// What was searched for.
    pub(crate) searched: String,
    dice: Arc<dyn Dice>,
}

/// A refusal in words.
#[derive(Clone, Debug)]
pub(crate) struct Refused {
    /// The code of the API.
    pub(crate) code: &'static str,
    /// What is wrong.
    pub(crate) detail: String,
    /// The wrong members, with what is wrong about each.
    pub(crate) members: Vec<(String, String)>,
    /// The status of the answer.
    pub(crate) status: u16,
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
    pub(crate) fn new<W: Visitor>(who: &W, done: Option<&str>, state: &AppState) -> Self {
        Self {
            site: W::SITE,
            brand: W::brand(state),
            places: who.places(),
            live: None,
            follows: None,
            way_back: who.way_back().map(str::to_owned),
            who: who.name(),
            token: who.form_token().to_owned(),
            notice: done.and_then(sentence),
            refused: None,
            searched: String::new(),
            dice: Arc::clone(&state.app.dice),
        }
    }

    /// Lets the page load itself again every few seconds: without a script, and only for a visitor who asked for it
    /// (WCAG 2.2.1).
    pub(crate) fn follow(&mut self) {
        self.follows = Some(FOLLOWS_EVERY_S);
    }

    /// As titles call the site.
    pub(crate) fn name(&self) -> &str {
        name_of(self.site, self.brand.as_deref())
    }

    /// The same frame with what the page needs to keep itself up to date.
    pub(crate) fn with(self, live: Option<Live>) -> Self {
        Self { live, ..self }
    }

    /// A fresh idempotency key, so that a form that is sent twice is done once.
    pub(crate) fn once(&self) -> String {
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
        "created" => "The endpoint was created.",
        "deleted" => "The endpoint was deleted.",
        "closed" => "The alert is closed.",
        _ => return None,
    })
}
