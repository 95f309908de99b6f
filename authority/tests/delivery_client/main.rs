//! The delivery client against receivers on real sockets.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests")]

mod addresses;
mod answers;
mod connections;
mod scripted_receiver;
mod tls;
