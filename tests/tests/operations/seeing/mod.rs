//! What an operator's monitoring can see (contract 15.10, 15.11, 16): metrics, health and readiness, and the log.

mod logs;
mod metrics;
mod readiness;
mod traces;
