//! Work inside a transaction, written as an async closure: `async move |tx| …`.
//!
//! `AsyncFnOnce` says what such a closure takes and returns, and from it the compiler infers the types of the
//! arguments. It cannot say that the future may move between threads, as the writer and the readers need; [`Movable`]
//! says that.

use authority_domain::Result;
use authority_store::tx::Tx;

use super::Answer;
use super::mutation::Work;

/// A function whose future may move between threads.
pub(super) trait Movable<A, R>: FnOnce(A) -> Self::Running {
    /// The future.
    type Running: Future<Output = R> + Send;
}

impl<A, R, F: FnOnce(A) -> Running, Running: Future<Output = R> + Send> Movable<A, R> for F {
    type Running = Running;
}

/// The same for a function of two arguments.
pub(super) trait Movable2<A, B, R>: FnOnce(A, B) -> Self::Running {
    /// The future.
    type Running: Future<Output = R> + Send;
}

impl<A, B, R, F: FnOnce(A, B) -> Running, Running: Future<Output = R> + Send> Movable2<A, B, R> for F {
    type Running = Running;
}

/// Declares a name for the bounds of a closure.
macro_rules! closures {
    ($($(#[doc = $doc:literal])* $name:ident<$($parameter:ident),*>: { $($bounds:tt)* })+) => {$(
        $(#[doc = $doc])*
        pub(super) trait $name<$($parameter),*>: $($bounds)* + Send + 'static {}

        impl<$($parameter,)* F: $($bounds)* + Send + 'static> $name<$($parameter),*> for F {}
    )+};
}

closures! {
    /// Works with a connection.
    Reading<T, E>: {
        AsyncFnOnce(&mut Tx) -> Result<T, E> + for<'t> Movable<&'t mut Tx, Result<T, E>>
    }
    /// Reads a page, or a record, that the second argument names.
    ReadingOf<A, T, E>: {
        AsyncFnOnce(&mut Tx, A) -> Result<T, E> + for<'t> Movable2<&'t mut Tx, A, Result<T, E>>
    }
    /// Works on the service's own account. It may run more than once, and the writes of its last run alone count.
    Working<T>: {
        AsyncFnOnce(&mut Work<'_>) -> Result<T>
            + for<'t, 'w> Movable<&'t mut Work<'w>, Result<T>>
            + Clone
    }
    /// The work of a request about what the second argument names, likewise.
    WorkingFor<A>: {
        AsyncFnOnce(&mut Work<'_>, A) -> Result<Answer>
            + for<'t, 'w> Movable2<&'t mut Work<'w>, A, Result<Answer>>
            + Clone
    }
}
