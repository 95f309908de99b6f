//! Merchants, their keys, scopes and limits (contract 2.11, 2.16, 6.2).

pub mod api_key;
pub mod key_record;
mod key_requests;
pub mod limits;
pub mod portal_session;
mod record;
mod requests;
pub mod scope;

pub use key_requests::{ApiKeyRequest, ApiKeyRotation};
pub use record::{Merchant, MerchantChange, MerchantStatus, Settings, is_slug};
pub use requests::{MerchantRequest, read_merchant_change};
