//! Pages and forms for the router: a request and the names in its path become a visit (`visit`), which a function of
//! the page answers.

use authority_domain::{ErrorCode, Refusal, Result};
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, Request, State};
use axum::response::Response;
use axum::routing::{MethodRouter, get, post};
use serde::de::DeserializeOwned;

use super::Visitor;
use super::answer::refused;
use super::form::{Form, Size};
use super::outcome::Outcome;
use super::visit::{Visit, request_id_of, show, submit};
use crate::http::AppState;
use crate::http::rate_limit::Policy;

/// The names in a path; an error where they cannot be read, so that nothing has such a path.
pub(crate) type Names<N> = Result<Path<N>, PathRejection>;

/// A page, for the router: what `act` makes of a visit and the names in the path.
pub(crate) fn shows<W, N, F, Fut>(act: F) -> MethodRouter<AppState>
where
    W: Visitor,
    N: DeserializeOwned + Send + 'static,
    F: Fn(Visit<W>, N) -> Fut + Clone + Send + Sync + 'static,
    Fut: Future<Output = Result<Outcome>> + Send + 'static,
{
    get(async move |State(state): State<AppState>, names: Names<N>, request: Request| match names {
        Ok(Path(names)) => show(state, request, move |visit| act(visit, names)).await,
        Err(_) => nowhere::<W>(State(state), request).await,
    })
}

/// A form, for the router, which [`submit`] checks.
pub(crate) fn submits<W, N, F, Fut>(
    scopes: &'static [W::Scope],
    policy: Policy,
    act: F,
) -> MethodRouter<AppState>
where
    W: Visitor,
    N: DeserializeOwned + Send + 'static,
    F: Fn(Visit<W>, Form, N) -> Fut + Clone + Send + Sync + 'static,
    Fut: Future<Output = Result<Outcome>> + Send + 'static,
{
    submits_of(Size::Small, scopes, policy, act)
}

/// The same with a pasted body of a delivery.
pub(crate) fn submits_a_body<W, N, F, Fut>(
    scopes: &'static [W::Scope],
    policy: Policy,
    act: F,
) -> MethodRouter<AppState>
where
    W: Visitor,
    N: DeserializeOwned + Send + 'static,
    F: Fn(Visit<W>, Form, N) -> Fut + Clone + Send + Sync + 'static,
    Fut: Future<Output = Result<Outcome>> + Send + 'static,
{
    submits_of(Size::WithABody, scopes, policy, act)
}

fn submits_of<W, N, F, Fut>(
    size: Size,
    scopes: &'static [W::Scope],
    policy: Policy,
    act: F,
) -> MethodRouter<AppState>
where
    W: Visitor,
    N: DeserializeOwned + Send + 'static,
    F: Fn(Visit<W>, Form, N) -> Fut + Clone + Send + Sync + 'static,
    Fut: Future<Output = Result<Outcome>> + Send + 'static,
{
    post(async move |State(state): State<AppState>, names: Names<N>, request: Request| match names {
        Ok(Path(names)) => {
            submit(state, request, size, scopes, policy, move |visit, form| act(visit, form, names)).await
        }
        Err(_) => nowhere::<W>(State(state), request).await,
    })
}

/// A path of the site where there is nothing.
pub(crate) async fn nowhere<W: Visitor>(State(state): State<AppState>, request: Request) -> Response {
    show::<W, _, _>(state, request, async |_| Err(Refusal::not_found("page"))).await
}

/// A path of the site, asked with a method that it does not have.
pub(crate) async fn wrong_method<W: Visitor>(State(state): State<AppState>, request: Request) -> Response {
    let (parts, _) = request.into_parts();
    let refusal = Refusal::new(ErrorCode::MethodNotAllowed, "This page does not take this method.");
    refused::<W>(&state, &refusal, &request_id_of(&parts))
}
