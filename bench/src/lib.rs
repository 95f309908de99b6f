//! What the benchmarks share: a place for databases, a connection that asks, receivers, a claim in the store, copies of
//! a record, what processes took of the machine, how many measurements become one figure, and what was aimed at beside
//! what came out.

pub mod claim;
pub mod connection;
pub mod copies;
pub mod database;
pub mod figures;
pub mod goals;
pub mod process;
pub mod receivers;

// The authority's, so that no side is ahead by its allocator.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
