//! The SQL, in rooms by aggregate: what [`transaction::Tx`] can be asked about an order is in `order`, and so on. The
//! types that a method takes and returns stand beside it, or in `transaction` where several rooms use them. The rest of
//! the program finds them in [`crate::tx`], and those about sending in [`crate::hand_off`] and [`crate::slots`].
//!
//! In [`transaction`], below all rooms, is what they use: how rows are written, and what reading is spared. Above them,
//! [`prefetch`] reads for many jobs at once, and [`inspect`] reads everything, for the doctor.

pub(crate) mod across;
pub(crate) mod checkout;
pub(crate) mod delivery;
pub(crate) mod endpoint;
pub(crate) mod event;
pub(crate) mod idempotency;
pub(crate) mod inspect;
pub(crate) mod merchant;
pub(crate) mod operator;
pub(crate) mod order;
pub(crate) mod partner;
pub(crate) mod payment;
pub(crate) mod prefetch;
pub(crate) mod refund;
pub(crate) mod shipment;
pub(crate) mod subscription;
pub(crate) mod transaction;

// What nearly every room uses, under one name.
pub(crate) use self::across::Across;
pub(crate) use self::transaction::columns::fields;
pub(crate) use self::transaction::rows::{
    Form, Table, TableOrder, Together, Touches, columns, newer, row, upsert,
};
pub(crate) use self::transaction::write_buffer::BufferedConnection;
pub(crate) use self::transaction::{Tx, bodies};
pub(crate) use crate::driver::{Kind, Query, Row, Value, query};
pub(crate) use crate::error::{Result, StoreError};
pub(crate) use crate::shards::{Shard, ShardSet};
