//! TODO operator

pub(crate) mod alerts;
pub(crate) mod all_deliveries;
pub(crate) mod audit;
pub(crate) mod console_sessions;
pub(crate) mod figures;
pub(crate) mod instances;
pub(crate) mod reads;
pub(crate) mod search;
