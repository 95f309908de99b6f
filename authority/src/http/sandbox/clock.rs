//! The clock of a test merchant (contract 6.3).

use super::Routes;
use crate::http::{Operation, ok};

const GET: Operation = Operation::get("/clock", "sandbox.clock.get")
    .summary("Show how far the clock was advanced.")
    .sandbox()
    .answers(&[ok("SandboxClock", "The clock.")]);

const ADVANCE: Operation =
    Operation::post("/clock", "sandbox.clock.advance")
        .summary("Let time pass for the records that exist.")
        .details(
            "Each record of test mode becomes older by so many seconds, and what time does to it happens: open \
             checkouts expire, orders that were pending for too long are cancelled, subscriptions whose period is \
             over renew or end, trials become the first period. Records made afterwards are not affected. All \
             times in records and events stay those of the real clock. The request waits up to two seconds for what \
             it makes due; the rest follows.",
        )
        .sandbox()
        .body("ClockRequest", r#"{"advance_seconds":86400}"#)
        .answers(&[ok("SandboxClock", "The clock.")]);

/// The routes.
pub(super) fn routes() -> Routes {
    Routes::new()
        .read(&GET, async |app, who, ()| app.sandbox_clock_get((&who).into()).await)
        .write(&ADVANCE, async |app, who, mutation, ()| {
            app.sandbox_clock_advance((&who).into(), mutation).await
        })
}
