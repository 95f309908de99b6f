//! What the best open peer fails at (its users' reports, and what was done to it live), done to this service.
//!
//! | | what was done | what the peer did | what must hold here |
//! |---|---|---|---|
//! | A | the receiver answers `429 Retry-After: 120`, or 410 | the next attempt came after 9 s; 410 was retried | the next attempt in exactly 120 s, for the whole endpoint; 410 disables (acceptance check A12) |
//! | B | the receiver answers 200 and drips its body for ever | sent three times, no attempt row, slots held | one attempt, a success, the slot given back, never sent again |
//! | C | 1,500 deliveries wait for a receiver that takes 20 s | another tenant's message took 37.8 s | others are delivered while the slow one holds no more than its cap |
//! | D | kill -9 during a fan-out to four endpoints, three of which had answered | all four were sent again | what was written is never sent again, none is lost |
//! | E | the queue's store is away during a create | the request hung, and its retry got 409 and was never delivered | 503 at once; the retry under the same key succeeds once and is delivered |
//! | F | the store comes back, with or without its contents | nothing was delivered until a restart; health said ok | deliveries go on without a restart; `readyz` tells the truth meanwhile |
//! | G | the receiver lets one request per second through | 20 messages in 1.0 s | its 20 messages at its rate, without hammering |
//! | K | an endpoint is disabled with a retry pending, and events happen meanwhile | the retry never happened, a resend answered 202 and sent nothing, recovery missed the rest | visible with reasons; 409 instead of an empty promise; a recovery delivers all, none twice |
//!
//! `asked_for` has what peers' users ask for beside these: exact bytes, no overlapping sends, no retry lost when a
//! write fails.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod a_retry_after;
mod asked_for;
mod b_dripping_body;
mod c_noisy_neighbour;
mod d_killed_fan_out;
mod e_database_away;
mod f_database_back;
mod g_rate_limited;
mod k_disabled;
