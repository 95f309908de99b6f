//! The sandbox through HTTP (contract 6.3): who may and the order of checks, every row of its table with exactly the
//! events of contract 3.9, and what makes demonstrations: seeds, and refunds that move by themselves.

mod clock;
mod demonstration;
mod moving_on;
mod paying;
mod playground;
mod who;
