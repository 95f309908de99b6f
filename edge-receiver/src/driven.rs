//! A future that JavaScript drives.
//!
//! A future that is handed to the runtime as a promise costs, for every wait, a microtask in workerd's own queue, two
//! closures and their finalizers, and the futures of all requests share one queue. On the way of a delivery this was
//! more than half of what the module took. Here the JavaScript that waits anyway does the waiting:
//!
//! 1. `worker.js` calls [`Driven::resume`]. The future runs until it is done, or until it waits in [`settled`].
//! 2. The promise that it waits for goes out as [`Step::Wait`]. JavaScript awaits it, and resumes the future with what
//!    came of it.
//!
//! Whoever drops the [`Driven`] ends the future; so a request that the runtime has given up leaves nothing behind.
//!
//! Absent on purpose: wakers. A driven future waits for one promise at a time. Where several are awaited together, the
//! work is spawned as a promise of its own, and that is waited for.

use std::cell::{Cell, RefCell};
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use worker::js_sys::Promise;
use worker::js_sys::futures::JsFuture;
use worker::wasm_bindgen::JsValue;

/// What became of a promise: its value, or the reason of its rejection.
pub(crate) type Settled = Result<JsValue, JsValue>;

thread_local! {
    static IS_DRIVING: Cell<bool> = const { Cell::new(false) };
    /// Between a future and who resumes it; used only while one runs, and only one runs at a time.
    static EXCHANGE: RefCell<Exchange> = const { RefCell::new(Exchange::Nothing) };
}

#[derive(Default)]
enum Exchange {
    #[default]
    Nothing,
    Asked(Promise),
    Told(Settled),
}

/// Where a future has come to.
pub(crate) enum Step<T> {
    /// It goes on when this promise is settled.
    Wait(Promise),
    Done(T),
    /// It was done before, or waits for something else than [`settled`]: it will never be done.
    Stuck,
}

/// A future and its place.
pub(crate) struct Driven<T> {
    future: RefCell<Option<Pin<Box<dyn Future<Output = T>>>>>,
}

impl<T> Driven<T> {
    pub(crate) fn new(future: impl Future<Output = T> + 'static) -> Self {
        Self { future: RefCell::new(Some(Box::pin(future))) }
    }

    /// Runs the future to its next wait. `told` is what became of the promise of the step before; the first time it is
    /// not looked at.
    pub(crate) fn resume(&self, told: Settled) -> Step<T> {
        let mut place = self.future.borrow_mut();
        let Some(future) = place.as_mut() else { return Step::Stuck };
        EXCHANGE.set(Exchange::Told(told));
        IS_DRIVING.set(true);
        let polled = future.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        IS_DRIVING.set(false);
        match (polled, EXCHANGE.take()) {
            (Poll::Ready(output), _) => {
                *place = None;
                Step::Done(output)
            }
            (Poll::Pending, Exchange::Asked(promise)) => Step::Wait(promise),
            (Poll::Pending, _) => Step::Stuck,
        }
    }
}

/// Waits until `promise` is settled, in a driven future and in any other.
pub(crate) fn settled(promise: Promise) -> Settling {
    Settling::New(Some(promise))
}

/// A wait.
pub(crate) enum Settling {
    New(Option<Promise>),
    /// JavaScript waits, and resumes the future.
    Driven,
    Spawned(JsFuture),
}

impl Future for Settling {
    type Output = Settled;

    // Never inlined: there is one in each wait of the module.
    #[inline(never)]
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Settled> {
        if let Self::New(promise) = &mut *self
            && let Some(promise) = promise.take()
        {
            if IS_DRIVING.get() {
                EXCHANGE.set(Exchange::Asked(promise));
                *self = Self::Driven;
                return Poll::Pending;
            }
            *self = Self::Spawned(JsFuture::from(promise));
        }
        match &mut *self {
            Self::Spawned(future) => Pin::new(future).poll(context),
            Self::New(_) | Self::Driven => match EXCHANGE.take() {
                Exchange::Told(settled) => Poll::Ready(settled),
                _ => Poll::Pending,
            },
        }
    }
}
