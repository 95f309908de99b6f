//! `authority dev`: a complete demo with the real parts and without any configuration (contract 16).
//!
//! A directory holds the data that a developer needs in later runs ([`data_dir`]). The service runs in it as `serve`
//! would run it, together with a merchant's receiver that has its own database ([`receiver`]; [`stage`] starts and
//! stops the two). Every step goes over HTTP through the public APIs ([`client`]): the merchant `demo` is set up
//! ([`demo`]), an order is paid, delivered and partly refunded ([`scenario`]), its events are read from the API
//! ([`feed`]) and compared with what the receiver saw ([`tally`]), and the receiver gets requests that it must handle
//! as duplicates or refuse ([`probes`]). The command line runs these steps in order and shows the results, the events
//! in the order of their stream ([`in_order`]).
//!
//! Deliberately absent: any access to the service's internals. Everything that the demo does, any other program can do
//! too.

pub(crate) mod client;
pub(crate) mod data_dir;
pub(crate) mod demo;
pub(crate) mod feed;
pub(crate) mod in_order;
pub(crate) mod probes;
pub(crate) mod receiver;
pub(crate) mod scenario;
pub(crate) mod stage;
pub(crate) mod tally;
