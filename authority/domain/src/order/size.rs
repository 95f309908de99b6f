//! The room that an order keeps below the size limit of events (contract 5.6).

use crate::bounds::ORDER_BYTES_MAX;
use crate::error_code::ErrorCode;
use crate::order::Order;
use crate::refusal::{Refusal, Result};

/// Refuses what people add to an order when it would fill it up: the reports of its payments, its cancellation and the
/// end of its shares would then be refused for ever. What makes it smaller is always possible.
///
/// # Errors
/// `payload_too_large`.
pub(crate) fn check_grown(before: &Order, order: &Order) -> Result<()> {
    let size = |order: &Order| Ok(serde_json::to_string(order).map_err(|_| Refusal::internal())?.len());
    let bytes = size(order)?;
    if bytes <= ORDER_BYTES_MAX || bytes <= size(before)? {
        return Ok(());
    }
    let detail =
        format!("The order would have {bytes} bytes; {ORDER_BYTES_MAX} are allowed for what it is given.");
    Err(Refusal::new(ErrorCode::PayloadTooLarge, detail))
}
