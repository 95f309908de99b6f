//! Statements that look through all shards, each with its reason.
//!
//! Every other statement on a table of merchants names the shards of the rows that it is about: that of a tenant
//! ([`crate::driver::Query::bind_tenant`]), or those whose turns its transaction holds
//! ([`crate::driver::Query::push_shards`]). `tests/conformance/shards.rs` holds the statements to it.

/// Why a statement looks through all shards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Across {
    /// Due deliveries are found wherever they are: the claim of an instance, and what watches over it.
    Claims,
    /// What its time has come for is found by that time: checkouts, pending orders, secrets, failing endpoints,
    /// recoveries, refunds and clocks of the sandbox, connections that end.
    Due,
    /// The operator's lists and searches are about all merchants.
    Operator,
    /// A merchant sees what others share with it, which is in the shards of its owners.
    Partners,
    /// Old rows are removed in the order of their age.
    Retention,
    /// What is sealed under a key is sealed anew, or looked at, wherever it is.
    Sealed,
    /// A process that is alone with its database takes back every lease.
    Start,
}

impl Across {
    /// How the statement is marked.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Claims => "claims",
            Self::Due => "due",
            Self::Operator => "operator",
            Self::Partners => "partners",
            Self::Retention => "retention",
            Self::Sealed => "sealed",
            Self::Start => "start",
        }
    }
}
