//! Shipments (contract 4.1, 4.7).

use authority_domain::{ErrorCode, Scope};

use super::Routes;
use crate::http::{Operation, created, ok, page};

const LIST: Operation = Operation::get("/orders/{order}/shipments", "shipments.list")
    .summary("List the shipments of an order, newest first.")
    .scopes(&[Scope::OrdersRead])
    .answers(&[page("Shipment", "Shipments.")]);

const CREATE: Operation = Operation::post("/orders/{order}/shipments", "shipments.create")
    .summary("Create a shipment of an order.")
    .details("The contents of a parcel count as shipped. Without lines it holds everything that is left to ship.")
    .scopes(&[Scope::ShipmentsWrite])
    .if_match("order")
    .body(
        "ShipmentRequest",
        r#"{"carrier":"dhl","tracking_number":"JD0146000","tracking_url":"https://track.example.com/JD0146000"}"#,
    )
    .answers(&[created("Shipment", "The parcel.").tagged().located()])
    .refuses(&[
        ErrorCode::OrderNotFulfillable,
        ErrorCode::NothingToShip,
        ErrorCode::ShipmentExists,
        ErrorCode::QuantityExceeded,
    ]);

const GET: Operation = Operation::get("/shipments/{shipment}", "shipments.get")
    .summary("Read a shipment.")
    .scopes(&[Scope::OrdersRead])
    .answers(&[ok("Shipment", "The shipment.").conditional()]);

/// The routes.
pub(super) fn routes() -> Routes {
    Routes::new()
        .list(&LIST, async |app, who, number, list, ()| app.shipments_list(&who, &list, number).await)
        .write(&CREATE, async |app, who, mutation, number| app.shipment_create(&who, mutation, number).await)
        .read(&GET, async |app, who, id| app.shipment_get(&who, id).await)
}
