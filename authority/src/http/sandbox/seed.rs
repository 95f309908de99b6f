//! Demonstration data (contract 6.3).

use axum::extract::{Request, State};
use axum::response::Response;

use crate::app::sandbox::Owner;
use crate::http::entry::{AppState, Reply, merchant};
use crate::http::operation::{Operation, created};
use crate::http::routes::Routes;

const SEED: Operation = Operation::post("/seed", "sandbox.seed", "Create demonstration data.")
    .details(
        "The same seed creates the same data, except for ids and times. Data created before a failure stays.",
    )
    .sandbox()
    .body("SeedRequest", r#"{"orders":20,"seed":7}"#)
    .answers(&[created("SandboxSeed", "The data that was created.")]);

/// The route.
pub(super) fn routes() -> Routes {
    Routes::new().add(&SEED, seed)
}

async fn seed(State(state): State<AppState>, request: Request) -> Response {
    merchant(state, request, async |app, entered| {
        let (who, mutation, body) = entered.write()?;
        app.sandbox_seed(Owner::of(&who), mutation, body).await.map(Reply::Answer)
    })
    .await
}
