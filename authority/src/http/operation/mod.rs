//! What an operation is, said once: beside its handler stands an [`Operation`], which the door obeys and from which the
//! API's description is written.
//!
//! A resource's file declares its operations as constants and hands each to `Routes::add` with its
//! handler. From then on nobody names an operation twice: [`super::entry`] finds it with the request, asks for its scopes,
//! draws from its bucket, lets the handler read the parameters it declares and the body it takes, and, in debug builds,
//! stops a handler that answers what its operation does not declare. So the tests that exercise the behaviour hold the
//! description to it. `authority-openapi` writes the documents.
//!
//! Adding one: `Operation::post(path, name, summary)` and what it needs of the methods below. Names of records are the
//! definitions of `authority-schema`, names of bodies those of `authority_domain::body_shapes::shapes`.
//! Deliberately absent: what follows from the rest, such as the codes that every operation can answer with
//! ([`Operation::codes`]) and the headers that every answer has.

mod parameter;
mod refusals;
mod success;

use authority_domain::error_code::ErrorCode;
use authority_domain::merchant::scope::{OperatorScope, Scope};
use axum::routing::MethodFilter;

pub use self::parameter::{Form, Parameter};
pub(super) use self::parameter::{event_types, flag, id, mode, text, time, words};
pub use self::success::{Content, Success};
pub(super) use self::success::{accepted, created, feed, json, ok, page, plain};
use super::rate_limit::Policy;

/// An operation: what it is called, who may ask for it, what it takes and what it can answer.
#[derive(Clone, Copy, Debug)]
pub struct Operation {
    /// The method.
    pub verb: Verb,
    /// Below the root of its API, with `{names}` for its path parameters.
    pub path: &'static str,
    /// For the idempotency record, the log, and as `operationId`.
    pub name: &'static str,
    /// What it does, in one sentence.
    pub summary: &'static str,
    /// What else is to be known; may be empty.
    pub details: &'static str,
    /// Who may ask.
    pub access: Access,
    /// The bucket it draws from; `None`: by the method.
    pub policy: Option<Policy>,
    /// The parameters of the query, but for `limit` and `cursor` of lists.
    pub query: &'static [Parameter],
    /// Whose version `If-Match` is compared with; `None` where it is not.
    pub if_match: Option<&'static str>,
    /// What its body is; `None` where there is none.
    pub body: Option<Body>,
    /// The answers that grant the request.
    pub answers: &'static [Success],
    /// The codes of its own: what [`Operation::codes`] does not find out by itself.
    pub refusals: &'static [ErrorCode],
}

/// A method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// Reads; HEAD follows it.
    Get,
    /// Does something.
    Post,
    /// Sets something.
    Put,
    /// Changes something.
    Patch,
    /// Removes something.
    Delete,
}

/// Who may ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// A merchant's key that has any of these scopes.
    Merchant(&'static [Scope]),
    /// A merchant's test key.
    TestKey,
    /// An operator's key that has any of these scopes.
    Operator(&'static [OperatorScope]),
    /// Everybody who reaches the listener.
    Everybody,
}

/// The body of a request.
#[derive(Clone, Copy, Debug)]
pub struct Body {
    /// Whether it can be left out.
    pub rule: BodyRule,
    /// The reader of its members, by the name of its shape.
    pub shape: &'static str,
    /// One that is granted in the right circumstances, as JSON.
    pub example: &'static str,
}

/// Whether an operation can do without a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyRule {
    /// 400 `body_required` without one.
    Required,
    /// None is the same as `{}`.
    Optional,
}

impl Verb {
    /// As HTTP writes it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
        }
    }

    /// Whether it changes something.
    #[must_use]
    pub const fn writes(self) -> bool {
        !matches!(self, Self::Get)
    }

    /// For the router. GET takes HEAD along.
    pub(super) const fn filter(self) -> MethodFilter {
        match self {
            Self::Get => MethodFilter::GET,
            Self::Post => MethodFilter::POST,
            Self::Put => MethodFilter::PUT,
            Self::Patch => MethodFilter::PATCH,
            Self::Delete => MethodFilter::DELETE,
        }
    }
}

impl Operation {
    const fn new(verb: Verb, path: &'static str, name: &'static str, summary: &'static str) -> Self {
        Self {
            verb,
            path,
            name,
            summary,
            details: "",
            access: Access::Everybody,
            policy: None,
            query: &[],
            if_match: None,
            body: None,
            answers: &[],
            refusals: &[],
        }
    }

    /// Reads.
    pub(super) const fn get(path: &'static str, name: &'static str, summary: &'static str) -> Self {
        Self::new(Verb::Get, path, name, summary)
    }

    /// Does something.
    pub(super) const fn post(path: &'static str, name: &'static str, summary: &'static str) -> Self {
        Self::new(Verb::Post, path, name, summary)
    }

    /// Sets something.
    pub(super) const fn put(path: &'static str, name: &'static str, summary: &'static str) -> Self {
        Self::new(Verb::Put, path, name, summary)
    }

    /// Changes something.
    pub(super) const fn patch(path: &'static str, name: &'static str, summary: &'static str) -> Self {
        Self::new(Verb::Patch, path, name, summary)
    }

    /// Removes something.
    pub(super) const fn delete(path: &'static str, name: &'static str, summary: &'static str) -> Self {
        Self::new(Verb::Delete, path, name, summary)
    }

    /// For merchants' keys that have any of these scopes.
    pub(super) const fn scopes(self, any_of: &'static [Scope]) -> Self {
        Self { access: Access::Merchant(any_of), ..self }
    }

    /// For operators' keys that have any of these scopes.
    pub(super) const fn operator(self, any_of: &'static [OperatorScope]) -> Self {
        Self { access: Access::Operator(any_of), ..self }
    }

    /// For test keys.
    pub(super) const fn sandbox(self) -> Self {
        Self { access: Access::TestKey, ..self }
    }

    /// Draws from the bucket of deliveries.
    pub(super) const fn delivers(self) -> Self {
        Self { policy: Some(Policy::Delivery), ..self }
    }

    /// What else is to be known.
    pub(super) const fn details(self, details: &'static str) -> Self {
        Self { details, ..self }
    }

    /// The parameters of its query, but for `limit` and `cursor`.
    pub(super) const fn query(self, query: &'static [Parameter]) -> Self {
        Self { query, ..self }
    }

    /// Compares `If-Match` with the version of `whose`.
    pub(super) const fn if_match(self, whose: &'static str) -> Self {
        Self { if_match: Some(whose), ..self }
    }

    /// Needs a body of this shape.
    pub(super) const fn body(self, shape: &'static str, example: &'static str) -> Self {
        Self { body: Some(Body { rule: BodyRule::Required, shape, example }), ..self }
    }

    /// Takes a body of this shape; none is the same as `{}`.
    pub(super) const fn optional_body(self, shape: &'static str, example: &'static str) -> Self {
        Self { body: Some(Body { rule: BodyRule::Optional, shape, example }), ..self }
    }

    /// The answers that grant the request.
    pub(super) const fn answers(self, answers: &'static [Success]) -> Self {
        Self { answers, ..self }
    }

    /// The codes of its own.
    pub(super) const fn refuses(self, refusals: &'static [ErrorCode]) -> Self {
        Self { refusals, ..self }
    }

    /// Whether its body may be left out; so it may where none is read.
    pub(super) fn body_rule(&self) -> BodyRule {
        self.body.map_or(BodyRule::Optional, |body| body.rule)
    }

    /// Whether it answers pages.
    #[must_use]
    pub fn is_list(&self) -> bool {
        self.answers.iter().any(|answer| matches!(answer.content, Content::Page(_) | Content::Feed(_)))
    }

    /// Whether it answers pages of a feed.
    #[must_use]
    pub fn has_resume_cursor(&self) -> bool {
        self.answers.iter().any(|answer| matches!(answer.content, Content::Feed(_)))
    }

    /// Whether its query has this parameter.
    #[must_use]
    pub fn takes(&self, parameter: &str) -> bool {
        let of_lists = self.is_list() && matches!(parameter, "limit" | "cursor");
        of_lists || self.query.iter().any(|known| known.name == parameter)
    }
}
