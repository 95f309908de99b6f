//! Statements that look through all shards, each with its reason.
//!
//! Every other statement on a table of merchants names the shards of the rows that it is about: that of a tenant
//! ([`crate::driver::Query::bind_tenant`]), or those whose turns its transaction holds
//! ([`crate::driver::Query::push_shards`]). `tests/conformance/shards` holds the statements to it.

/// Why a statement looks through all shards, in the word that it is marked with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Across(pub(crate) &'static str);

impl Across {
    /// Due deliveries are found wherever they are: the claim of an instance, and what watches over it.
    pub(crate) const CLAIMS: Self = Self("claims");
    /// What its time has come for is found by that time: checkouts, pending orders, secrets, failing endpoints,
    /// recoveries, refunds and clocks of the sandbox, connections that end.
    pub(crate) const DUE: Self = Self("due");
    /// The operator's lists and searches are about all merchants.
    pub(crate) const OPERATOR: Self = Self("operator");
    /// A merchant sees what others share with it, which is in the shards of its owners.
    pub(crate) const PARTNERS: Self = Self("partners");
    /// Old rows are removed in the order of their age.
    pub(crate) const RETENTION: Self = Self("retention");
    /// What is sealed under a key is sealed anew, or looked at, wherever it is.
    pub(crate) const SEALED: Self = Self("sealed");
    /// A process that is alone with its database takes back every lease.
    pub(crate) const START: Self = Self("start");
}
