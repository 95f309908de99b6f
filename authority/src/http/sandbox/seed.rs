//! Demonstration data (contract 6.3).

use super::Routes;
use crate::http::{Operation, created};

const SEED: Operation = Operation::post("/seed", "sandbox.seed")
    .summary("Create demonstration data.")
    .details(
        "The same seed creates the same data, except for ids and times. Data created before a failure stays. One seed \
         of a merchant runs at a time.",
    )
    .sandbox()
    .body("SeedRequest", r#"{"orders":20,"seed":7}"#)
    .answers(&[created("SandboxSeed", "The data that was created.")]);

/// The route.
pub(super) fn routes() -> Routes {
    Routes::new().write(&SEED, async |app, who, mutation, ()| app.sandbox_seed((&who).into(), mutation).await)
}
