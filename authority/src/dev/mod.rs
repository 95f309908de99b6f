//! `authority dev`: the whole thing once, on real parts, without any configuration (contract 16).
//!
//! A directory holds what a developer keeps from one run to the next ([`data_dir`]). In it the service runs as `serve`
//! would run it. Beside it runs a merchant's receiver with a database of its own ([`receiver`]; [`stage`] starts and
//! stops the two). Then everything happens through the front doors, over HTTP ([`client`]): the merchant `demo` is set
//! up ([`demo`]), an order is paid and shipped ([`scenario`]), its events are read from the API ([`feed`]) and compared
//! with what the receiver saw ([`tally`]), and the receiver is sent what it must not fall for ([`probes`]). The command
//! line puts these in order and shows them.
//!
//! Deliberately absent: any way to reach into the service. What this demonstrates, a stranger's program can do too.

pub(crate) mod client;
pub(crate) mod data_dir;
pub(crate) mod demo;
pub(crate) mod feed;
pub(crate) mod probes;
pub(crate) mod receiver;
pub(crate) mod scenario;
pub(crate) mod stage;
pub(crate) mod tally;
