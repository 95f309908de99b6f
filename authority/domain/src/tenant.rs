//! The tenant: a merchant in one of the two modes. Live and test data never mix (contract 1, T2).

use crate::id::MerchantId;
use crate::text_enum::text_enum;

text_enum! {
    /// A mode as paths and bodies of the operator side name it.
    Mode {
        /// Real money.
        Live = "live",
        /// Test data.
        Test = "test",
    }
}

/// Whose data, and which half of it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tenant {
    /// The merchant; resolved from a credential or named by an operator's path, never by a merchant's input.
    pub merchant_id: MerchantId,
    /// Live or test.
    pub livemode: bool,
}
