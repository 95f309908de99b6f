//! What the best open peer fails at (its users' reports, and what was done to it live), done to this service.
//!
//! | | what was done | what the peer did | what must hold here |
//! |---|---|---|---|
//! | B | the receiver answers 200 and drips its body for ever | sent three times, no attempt row, slots held | one attempt, a success, the slot given back, never sent again |
//! | C | 1,500 deliveries wait for a receiver that takes 20 s | another tenant's message took 37.8 s | others are delivered while the slow one holds no more than its cap |
//! | D | kill -9 during a fan-out to four endpoints, three of which had answered | all four were sent again | what was written is never sent again, none is lost |
//! | E | the queue's store is away during a create | the request hung, and its retry got 409 and was never delivered | 503 at once; the retry under the same key succeeds once and is delivered |
//! | F | the store comes back, with or without its contents | nothing was delivered until a restart; health said ok | deliveries go on without a restart; `readyz` tells the truth meanwhile |
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

mod asked_for;
mod b_dripping_body;
mod c_noisy_neighbour;
mod d_killed_fan_out;
mod e_database_away;
mod f_database_back;
