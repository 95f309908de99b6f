//! Routes that know their operations: the only way to put a handler behind a path of an API.
//!
//! A handler is added with its [`Operation`], which says the method and the path; the request then carries it to
//! [`super::entry`]. What was added can be listed, so that the description names every route and no other.

use axum::Router;
use axum::extract::Request;
use axum::handler::Handler;
use axum::routing::on;

use super::entry::AppState;
use super::operation::Operation;

/// Routes and their operations.
#[derive(Default)]
pub struct Routes {
    router: Router<AppState>,
    described: Vec<Described>,
}

/// An operation and where it is found.
#[derive(Clone, Debug)]
pub struct Described {
    /// From the root of the listener.
    pub path: String,
    /// What is there.
    pub operation: &'static Operation,
}

impl Routes {
    /// None.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Puts a handler behind its operation's method and path.
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

    /// These and those.
    #[must_use]
    pub fn merge(mut self, other: Self) -> Self {
        self.router = self.router.merge(other.router);
        self.described.extend(other.described);
        self
    }

    /// The same below a root.
    #[must_use]
    pub(super) fn below(self, root: &'static str) -> Self {
        let described = self.described.into_iter();
        Self {
            router: Router::new().nest(root, self.router),
            described: described
                .map(|route| Described { path: format!("{root}{}", route.path), ..route })
                .collect(),
        }
    }

    /// What is where, in the order of adding.
    #[must_use]
    pub fn described(&self) -> &[Described] {
        &self.described
    }

    /// For the listener.
    pub fn into_router(self) -> Router<AppState> {
        self.router
    }
}

/// A handler whose requests carry its operation.
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

    fn call(self, mut request: Request, roots: AppState) -> Self::Future {
        request.extensions_mut().insert(self.operation);
        self.handler.call(request, roots)
    }
}
