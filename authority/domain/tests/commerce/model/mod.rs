//! The domain as a whole (contract 3.1–3.11): a model shop that holds records as the store does, gets random commands
//! of every kind, legal and illegal, and is checked after each of them.
//!
//! [`ledger`] is what a database would keep. [`commands`] does for each command what its use case does, with the
//! transitions under test ([`sales`], [`after_sales`], [`subscribing`]). [`records`] says what must hold of what is
//! kept, [`steps`] what must hold of a command's changes; both read the contract's tables themselves ([`tables`]) and
//! answer with what they find, so that [`planted`] can show that they find something. [`random`] runs it, [`rows`]
//! spells out contract 3.9, [`late_money`] what comes after an end.

mod after_sales;
mod commands;
mod late_money;
mod ledger;
mod planted;
mod random;
mod records;
mod rows;
mod sales;
mod steps;
mod subscribing;
pub(crate) mod tables;

/// An invariant of contract 3.11 or a general rule of contract 3 that does not hold, and what was seen.
type Violation = (&'static str, String);
