//! Bounds of numbers and maps that hold wherever they stand (contract 1).

use std::ops::RangeInclusive;

/// The largest amount any member may carry (contract 1); sums of a hundred of them still fit a double exactly.
pub const MONEY_MAX: i64 = 999_999_999_999;

/// Integers that JavaScript reads exactly: ±(2^53 − 1) (contract 1).
pub const INTEGER_RANGE: RangeInclusive<i64> = -9_007_199_254_740_991..=9_007_199_254_740_991;

/// Entries that `metadata` may have (contract 1).
pub const METADATA_ENTRIES: usize = 50;
