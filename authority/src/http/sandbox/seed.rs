//! Demonstration data (contract 6.3).

use crate::app::{Caller, Owner};
use crate::http::{Operation, Routes, created};

const SEED: Operation = Operation::post("/seed", "sandbox.seed", "Create demonstration data.")
    .details(
        "The same seed creates the same data, except for ids and times. Data created before a failure stays.",
    )
    .sandbox()
    .body("SeedRequest", r#"{"orders":20,"seed":7}"#)
    .answers(&[created("SandboxSeed", "The data that was created.")]);

/// The route.
pub(super) fn routes() -> Routes {
    Routes::new().write(&SEED, async |app, who: Caller, mutation, ()| {
        app.sandbox_seed(Owner::of(&who), mutation).await
    })
}
