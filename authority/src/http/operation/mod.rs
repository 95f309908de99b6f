//! The declaration of an operation: an [`Operation`] beside each handler, which the HTTP layer enforces and from
//! which the API's description is generated.
//!
//! A resource's file declares its operations as constants and passes each to `Routes::add` with its handler. No
//! other place names the operation again: [`super::entry`] finds it with the request, checks its scopes, takes a
//! token from its bucket, lets the handler read the declared parameters and body, and, in debug builds, stops a
//! handler whose answer its operation does not declare. So the tests of the behaviour also verify the description.
//! `authority-openapi` writes the documents.
//!
//! To add one: `Operation::post(path, name)` with a summary, and the methods below that it needs. Names of records are
//! the definitions of `authority-schema`, names of bodies those of `authority_domain::body_shapes::shapes`.
//! Deliberately absent: what follows from the rest, such as the codes that every operation can answer with
//! ([`Operation::codes`]) and the headers that every answer has.

mod refusals;
mod success;

use authority_domain::list_filter::{ListFilter, Parameter};
use authority_domain::{ErrorCode, OperatorScope, Scope};
use axum::routing::MethodFilter;

pub use self::success::{Content, Success};
pub(super) use self::success::{accepted, created, feed, json, ok, page, plain};
use super::rate_limit::Policy;

/// An operation: its name, its access rule, its inputs and its possible answers.
#[derive(Clone, Copy, Debug)]
pub struct Operation {
    /// The method.
    pub verb: Verb,
    /// Relative to the prefix of its API, with `{names}` for its path parameters.
    pub path: &'static str,
    /// For the idempotency record, the log, and `operationId`.
    pub name: &'static str,
    /// What it does, in one sentence.
    pub summary: &'static str,
    /// Further description; may be empty.
    pub details: &'static str,
    /// Who may call it.
    pub access: Access,
    /// The bucket it draws from; `None`: determined by the method.
    pub policy: Option<Policy>,
    /// It reads as much as a page of a list, with the connections that are there for lists.
    pub reads_much: bool,
    /// The query parameters, except `limit` and `cursor` of lists.
    pub query: &'static [Parameter],
    /// The record whose version `If-Match` is compared with; `None` when it is not used.
    pub if_match: Option<&'static str>,
    /// Its body; `None` when there is none.
    pub body: Option<Body>,
    /// The successful answers.
    pub answers: &'static [Success],
    /// Its own codes: those that [`Operation::codes`] does not derive.
    pub refusals: &'static [ErrorCode],
}

/// A method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// Reads; HEAD works as well.
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

/// Who may call an operation.
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
    /// Whether it is optional.
    pub rule: BodyRule,
    /// The name of the shape that reads its members.
    pub shape: &'static str,
    /// An example that succeeds in the right circumstances, as JSON.
    pub example: &'static str,
}

/// Whether an operation needs a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyRule {
    /// 400 `body_required` without one.
    Required,
    /// No body is the same as `{}`.
    Optional,
}

impl Verb {
    /// The HTTP name.
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

    /// The router's filter. GET includes HEAD.
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
    const fn new(verb: Verb, path: &'static str, name: &'static str) -> Self {
        Self {
            verb,
            path,
            name,
            summary: "",
            details: "",
            access: Access::Everybody,
            policy: None,
            reads_much: false,
            query: &[],
            if_match: None,
            body: None,
            answers: &[],
            refusals: &[],
        }
    }

    /// Reads.
    pub(super) const fn get(path: &'static str, name: &'static str) -> Self {
        Self::new(Verb::Get, path, name)
    }

    /// Does something.
    pub(super) const fn post(path: &'static str, name: &'static str) -> Self {
        Self::new(Verb::Post, path, name)
    }

    /// Sets something.
    pub(super) const fn put(path: &'static str, name: &'static str) -> Self {
        Self::new(Verb::Put, path, name)
    }

    /// Changes something.
    pub(super) const fn patch(path: &'static str, name: &'static str) -> Self {
        Self::new(Verb::Patch, path, name)
    }

    /// Removes something.
    pub(super) const fn delete(path: &'static str, name: &'static str) -> Self {
        Self::new(Verb::Delete, path, name)
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

    /// Reads as much as a list, and takes turns with the lists of whoever asks.
    pub(super) const fn reads_much(self) -> Self {
        Self { reads_much: true, ..self }
    }

    /// Says what it does.
    pub(super) const fn summary(self, summary: &'static str) -> Self {
        Self { summary, ..self }
    }

    /// Adds further description.
    pub(super) const fn details(self, details: &'static str) -> Self {
        Self { details, ..self }
    }

    /// Is a list that this filter narrows.
    pub(super) const fn filter<F: ListFilter>(self) -> Self {
        Self { query: F::PARAMETERS, ..self }
    }

    /// Compares `If-Match` with the version of `whose`.
    pub(super) const fn if_match(self, whose: &'static str) -> Self {
        Self { if_match: Some(whose), ..self }
    }

    /// Needs a body of this shape.
    pub(super) const fn body(self, shape: &'static str, example: &'static str) -> Self {
        Self { body: Some(Body { rule: BodyRule::Required, shape, example }), ..self }
    }

    /// Takes a body of this shape; no body is the same as `{}`.
    pub(super) const fn optional_body(self, shape: &'static str, example: &'static str) -> Self {
        Self { body: Some(Body { rule: BodyRule::Optional, shape, example }), ..self }
    }

    /// Sets the successful answers.
    pub(super) const fn answers(self, answers: &'static [Success]) -> Self {
        Self { answers, ..self }
    }

    /// Sets its own codes.
    pub(super) const fn refuses(self, refusals: &'static [ErrorCode]) -> Self {
        Self { refusals, ..self }
    }

    /// Whether its body is optional; an operation that reads none counts as optional.
    pub(super) fn body_rule(&self) -> BodyRule {
        self.body.map_or(BodyRule::Optional, |body| body.rule)
    }

    /// Whether it answers with pages.
    #[must_use]
    pub fn is_list(&self) -> bool {
        self.answers.iter().any(|answer| matches!(answer.content, Content::Page(_) | Content::Feed(_)))
    }

    /// Whether it answers with pages of a feed.
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
