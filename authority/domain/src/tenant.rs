//! The tenant: a merchant in one of the two modes. Live and test data never mix (contract 1, T2).

use serde::{Deserialize, Serialize};

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

impl Tenant {
    /// The text used in place of a merchant's id. Merchants' ids begin with `mer_`, so no merchant has it.
    const OPERATOR: &'static str = "operator";

    /// The operator's own tenant, which holds the platform's endpoint and its deliveries. No credential and no
    /// merchant's request can reach it. It counts as test data where a rule asks for the mode, so that in
    /// development the platform's endpoint may be on this machine (contract 7.6).
    #[must_use]
    pub fn operator() -> Self {
        Self { merchant_id: MerchantId::from_store(Self::OPERATOR.to_owned()), livemode: false }
    }

    /// Whether this is the operator's own tenant.
    #[must_use]
    pub fn is_operator(&self) -> bool {
        Self::is_of_operator(&self.merchant_id)
    }

    /// Whether this stands for the operator in place of a merchant's id.
    #[must_use]
    pub fn is_of_operator(merchant_id: &MerchantId) -> bool {
        merchant_id.as_str() == Self::OPERATOR
    }
}

/// A merchant, as events name it.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "EventMerchant"))]
pub struct MerchantContext {
    /// The merchant's id.
    pub id: MerchantId,
    /// Its readable name.
    pub slug: String,
}
