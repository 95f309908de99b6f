//! The kit that the integration tests share: real parts, started and ended by the test that needs them.
//!
//! A test names what it wants running, talks to it over a socket, and asserts exact outcomes. Nothing here stands
//! in for a part of the product: [`workerd`] runs the built Worker in the runtime that it is deployed to, and
//! [`delivery`] signs with the core that the authority signs with. [`authority`] runs the built binary on files of
//! its own, [`service`] runs the same inside the test where the test turns the clock, [`merchant`] and [`http`] ask
//! it, [`database_proxy`] is the network to its database, [`terminal`] is what a person sees of a command,
//! [`receiver`] takes what it delivers, and [`schemas`] and [`webhooks`] say whether that is what the package's types
//! and the API's description promise.
//!
//! What nearly every test names is passed on here, at the root.
//!
//! Absent on purpose: mocks, and waiting for time to pass. A helper that cannot go on panics with the reason,
//! because in a test that is the outcome.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking, and so does what it is made of"
)]

pub mod authority;
pub mod binary;
pub mod clock;
pub mod damage;
mod database;
pub mod database_proxy;
pub mod delivery;
mod endpoint;
pub mod eventually;
pub mod gateway;
pub mod http;
pub mod memory;
pub mod merchant;
pub mod partners;
pub mod ports;
mod prepared;
pub mod receiver;
mod records;
pub mod schemas;
pub mod service;
pub mod shop;
pub mod terminal;
pub mod webhooks;
pub mod workerd;

pub use authority::{Authority, Database, KEK, retries, terminate};
pub use clock::{HandClock, now_ms};
pub use eventually::{eventually, within};
pub use http::{Api, Call, Reply};
pub use merchant::{
    ConsoleUrls, Endpoint, EventPosition, Merchant, SCOPES, ServiceUrls, checkout_body, payment_body,
    position_of, report_body, text,
};
pub use receiver::{Answer, Arrival, Arrivals, Down, Gate, Receiver};
pub use records::{has, ms, rows, sequences, texts, wrong_members};
pub use service::InProcess;
pub use shop::{Shop, shipments};

/// Makes two tests of every case, one for each kind of database: a case is an async function that takes the
/// [`Database`](crate::authority::Database). A case that is not listed is an unused function, which the compiler
/// reports.
#[macro_export]
macro_rules! on_both_databases {
    ($($case:ident),+ $(,)?) => {
        $crate::on_database!(on_sqlite, Sqlite, $($case),+);
        $crate::on_database!(on_postgres, Postgres, $($case),+);
    };
}

/// The same, and a third test of every case on a cluster of Citus, when the environment names one (`CITUS_URL`).
#[macro_export]
macro_rules! on_every_database {
    ($($case:ident),+ $(,)?) => {
        $crate::on_both_databases!($($case),+);
        $crate::on_database!(on_citus, Citus, $($case),+);
    };
}

/// A module with a test of every case on a kind of database.
#[macro_export]
macro_rules! on_database {
    ($module:ident, $kind:ident, $($case:ident),+) => {
        mod $module {
            $(
                #[tokio::test]
                async fn $case() {
                    let database = $crate::authority::Database::$kind;
                    if database.is_there() {
                        super::$case(database).await;
                    }
                }
            )+
        }
    };
}
