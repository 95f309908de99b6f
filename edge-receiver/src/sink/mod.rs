//! Where recorded events go: a queue, an origin, or another Worker.
//!
//! Which one it is, the bindings say; without any the events stay in the inbox.
//!
//! | Bound | Sink |
//! |---|---|
//! | `SINK_QUEUE` | a Cloudflare Queue; the message is the event |
//! | `SINK_SERVICE` | another Worker, by a service binding; `SINK_URL` says the URL that it sees |
//! | `SINK_URL` alone | an origin; `FORWARDING_SECRET` is required |
//!
//! Origin and Worker get a delivery like the one that came: the same bytes under the same headers, with a timestamp of
//! now, signed with `FORWARDING_SECRET` by the core that verified. So whatever verifies the service's deliveries
//! verifies these. Any 2xx status takes the event; redirects are not followed.
//!
//! A sink may see an event again when its answer was lost, and never sees it again once its answer arrived. It is the
//! event's id that tells.

#[cfg(target_family = "wasm")]
mod destination;
mod failure;
#[cfg(target_family = "wasm")]
mod forward;
#[cfg(target_family = "wasm")]
mod queue;
mod url;

#[cfg(target_family = "wasm")]
pub(crate) use destination::Sink;
pub use failure::Failure;
pub use url::is_usable_url;
