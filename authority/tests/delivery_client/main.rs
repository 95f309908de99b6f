//! The delivery client against receivers on real sockets.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests")]

mod addresses;
mod answers;
mod client_certificates;
mod connections;
mod frames;
mod http2;
mod kept;
mod multiplexed;
mod scripted_receiver;
mod stalled;
mod tls;
