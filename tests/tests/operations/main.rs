//! What an operator does and sees: commands, signals, metrics, logs, backups, databases (contract 8, 15, 16). One
//! program, because each links the whole workspace.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod backup;
mod clock;
mod commands;
mod config;
mod database_proxy;
mod deployments;
mod doctor;
mod failover;
mod golden;
mod listen;
mod manual;
mod mistakes;
mod monitoring;
mod postgres;
mod reload;
mod rewrap;
mod runbook;
mod seeing;
mod stop;
mod tail;
mod terminal;
mod trigger;
mod turns;
