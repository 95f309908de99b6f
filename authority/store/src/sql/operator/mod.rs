//! What the operator looks up over all merchants, and what is stored of the operator's side: alerts, the audit log, the
//! sessions of the console, and the instances that run.

pub(crate) mod alerts;
pub(crate) mod all_deliveries;
pub(crate) mod audit;
pub(crate) mod console_sessions;
pub(crate) mod figures;
pub(crate) mod instances;
pub(crate) mod reads;
pub(crate) mod search;
pub(crate) mod story;
