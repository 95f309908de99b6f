//! Bounds of numbers, maps and sizes that hold wherever they stand (contract 1, 5.6).

use std::ops::RangeInclusive;

/// The largest amount any member may carry (contract 1); sums of a hundred of them still fit a double exactly.
pub const MONEY_MAX: i64 = 999_999_999_999;

/// Integers that JavaScript reads exactly: ±(2^53 − 1) (contract 1).
pub const INTEGER_RANGE: RangeInclusive<i64> = -9_007_199_254_740_991..=9_007_199_254_740_991;

/// Entries that `metadata` may have (contract 1).
pub const METADATA_ENTRIES: usize = 50;

/// The largest event in bytes (contract 5.6).
pub const EVENT_BYTES_MAX: usize = 256 * 1024;

/// What a checkout leaves free below [`EVENT_BYTES_MAX`] for the order it will become: three more numbers on each of
/// 100 lines, payments, sums, dates, a note. Without it a checkout could be paid and never become an order.
pub(crate) const ORDER_HEADROOM_BYTES: usize = 64 * 1024;

/// What an order leaves free below [`EVENT_BYTES_MAX`] when it is created, wherever it comes from: less than a
/// checkout, which still has to become an order. Without it the report of its payment could be refused for ever.
pub(crate) const GROWTH_HEADROOM_BYTES: usize = 40 * 1024;

/// The largest order in bytes while clients decide what it holds; the rest is reserved for later changes.
pub(crate) const ORDER_BYTES_MAX: usize = EVENT_BYTES_MAX - GROWTH_HEADROOM_BYTES;
