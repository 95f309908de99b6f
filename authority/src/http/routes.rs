//! Routes with their operations: the only way to add a handler to an API.
//!
//! A handler is added with its [`Operation`], which has the method and the path; the request then carries the
//! operation to [`super::entry`]. The added operations can be listed, so that the description covers exactly the
//! existing routes.

use std::marker::PhantomData;
use std::sync::Arc;

use authority_domain::Result;
use authority_domain::list_filter::ListFilter;
use axum::Router;
use axum::extract::{Request, State};
use axum::handler::Handler;
use axum::routing::on;

use super::entry::{Act, Actor, AppState, AuthorizedRequest};
use super::list_query::list_request;
use super::operation::Operation;
use super::path::FromPath;
use super::reply::Reply;
use crate::app::{Answer, App, List, ListRequest, Mutation};

/// Routes and their operations. `C` is whoever calls those that need a key.
pub struct Routes<C = ()> {
    router: Router<AppState>,
    described: Vec<Described>,
    caller: PhantomData<fn(C)>,
}

/// An operation and its full path.
#[derive(Clone, Debug)]
pub struct Described {
    /// The path on the listener.
    pub path: String,
    /// The operation there.
    pub operation: &'static Operation,
}

impl<C> Default for Routes<C> {
    fn default() -> Self {
        Self { router: Router::new(), described: Vec::new(), caller: PhantomData }
    }
}

impl<C> Routes<C> {
    /// No routes.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a handler under its operation's method and path.
    #[must_use]
    pub(super) fn add<H, T>(mut self, operation: &'static Operation, handler: H) -> Self
    where
        H: Handler<T, AppState>,
        T: Send + 'static,
    {
        let method = on(operation.verb.filter(), Under { handler, operation });
        self.router = self.router.route(operation.path, method);
        self.described.push(Described { path: operation.path.to_owned(), operation });
        self
    }

    /// Adds the routes of `other`, whoever calls them.
    #[must_use]
    pub fn merge<D>(mut self, other: Routes<D>) -> Self {
        self.router = self.router.merge(other.router);
        self.described.extend(other.described);
        self
    }

    /// The same routes below a path prefix.
    #[must_use]
    pub(super) fn below(mut self, root: &'static str) -> Self {
        self.router = Router::new().nest(root, self.router);
        for route in &mut self.described {
            route.path.insert_str(0, root);
        }
        self
    }

    /// All operations with their paths, in the order they were added.
    #[must_use]
    pub fn described(&self) -> &[Described] {
        &self.described
    }

    /// The router for the listener.
    pub fn into_router(self) -> Router<AppState> {
        self.router
    }

    /// Adds an operation that reads what its path names, and takes no parameters.
    #[must_use]
    pub(super) fn read<P, F, Fut>(self, operation: &'static Operation, act: F) -> Self
    where
        C: Actor,
        P: FromPath,
        F: Fn(App, C, P) -> Fut + Clone + Send + Sync + 'static,
        Fut: Future<Output = Result<Answer>> + Send + 'static,
    {
        self.entered(operation, async move |app, mut request: AuthorizedRequest<C>| {
            request.query.finish()?;
            let names = P::from_path(&mut request.names)?;
            act(app, request.who, names).await.map(Reply::from)
        })
    }

    /// Adds a list, narrowed by its filter. Its cursors are bound to that, and to the record that it is below.
    #[must_use]
    pub(super) fn list<P, W, F, Fut>(self, operation: &'static Operation, act: F) -> Self
    where
        C: Actor,
        P: FromPath,
        W: ListFilter,
        F: Fn(App, C, P, ListRequest, W) -> Fut + Clone + Send + Sync + 'static,
        Fut: Future<Output = Result<List>> + Send + 'static,
    {
        self.entered(operation, async move |app, mut request: AuthorizedRequest<C>| {
            let names = P::from_path(&mut request.names)?;
            let filter = W::read(&mut request.query)?;
            let list = list_request(request.query, operation, names.parent())?;
            act(app, request.who, names, list, filter).await.map(Reply::from)
        })
    }

    /// Adds an operation that writes, and takes no parameters.
    #[must_use]
    pub(super) fn write<P, F, Fut>(self, operation: &'static Operation, act: F) -> Self
    where
        C: Actor,
        P: FromPath,
        F: Fn(App, C, Mutation, P) -> Fut + Clone + Send + Sync + 'static,
        Fut: Future<Output = Result<Answer>> + Send + 'static,
    {
        self.entered(operation, async move |app, mut request: AuthorizedRequest<C>| {
            let names = P::from_path(&mut request.names)?;
            let (who, mutation) = request.write()?;
            act(app, who, mutation, names).await.map(Reply::from)
        })
    }

    fn entered<F, Fut>(self, operation: &'static Operation, act: F) -> Self
    where
        C: Actor,
        F: FnOnce(App, AuthorizedRequest<C>) -> Fut + Clone + Send + Sync + 'static,
        Fut: Future<Output = Result<Reply>> + Send + 'static,
    {
        self.checked(operation, Arc::new(move |app, request| Box::pin((act.clone())(app, request))))
    }

    fn checked(self, operation: &'static Operation, act: Act<C>) -> Self
    where
        C: Actor,
    {
        self.add(operation, |State(state): State<AppState>, request: Request| C::enter(state, request, act))
    }
}

/// A handler that attaches its operation to each request.
#[derive(Clone)]
struct Under<H> {
    handler: H,
    operation: &'static Operation,
}

impl<H, T> Handler<T, AppState> for Under<H>
where
    H: Handler<T, AppState>,
    T: Send + 'static,
{
    type Future = H::Future;

    fn call(self, mut request: Request, state: AppState) -> Self::Future {
        request.extensions_mut().insert(self.operation);
        self.handler.call(request, state)
    }
}
