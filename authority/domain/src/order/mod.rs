//! The order and its parts: number, lines, payment status, fulfilment, and how it is created, changed and ended
//! (contract 2.2, 3.1 to 3.3).

mod basket;
mod edit_requests;
pub mod external_references;
mod fulfillment_request;
pub mod fulfillment_status;
mod ingest_request;
pub mod line_quantities;
pub mod new_order;
pub mod payment_room;
pub mod payment_status;
mod record;
mod size;
mod status;

pub(crate) use basket::{Basket, Priced, priced_lines};
#[cfg(feature = "schema")]
pub(crate) use edit_requests::order_edit;
pub use edit_requests::{OrderCancelRequest, OrderEdit, no_members};
pub use fulfillment_request::{FulfillmentUpdate, LineTarget, TARGETS};
pub use ingest_request::{OrderRequest, PaymentMade};
pub use new_order::NewOrder;
pub use record::{ConfirmedBy, ExternalReference, Order};
pub(crate) use size::check_grown;
pub use status::{CancelReason, ConfirmOn, OrderSource, OrderStatus};
