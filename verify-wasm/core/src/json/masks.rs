//! Where in 64 bytes the few characters stand that give JSON text its structure: one bit per byte, the first lowest.

/// Bytes in a block.
pub(super) const WIDTH: usize = 64;

pub(super) struct Masks {
    /// `"`
    pub(super) quotes: u64,
    /// `\`
    pub(super) backslashes: u64,
    /// `{` and `[`
    pub(super) opens: u64,
    /// `}` and `]`
    pub(super) closes: u64,
    /// `e` and `E`
    pub(super) exponents: u64,
}

/// Sets this bit in `{ [ } ]` apart: the pairs differ in it alone.
const CASE: u8 = 0x20;

impl Masks {
    #[inline(always)]
    pub(super) fn of(block: &[u8; WIDTH]) -> Self {
        Self {
            quotes: mask(block, 0, b'"'),
            backslashes: mask(block, 0, b'\\'),
            opens: mask(block, CASE, b'{'),
            closes: mask(block, CASE, b'}'),
            exponents: mask(block, CASE, b'e'),
        }
    }
}

/// The bytes that are `wanted` once the bits of `fold` are set in them.
#[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
fn mask(block: &[u8; WIDTH], fold: u8, wanted: u8) -> u64 {
    block.iter().rev().fold(0, |mask, byte| mask << 1 | u64::from(byte | fold == wanted))
}

#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
#[inline(always)]
fn mask(block: &[u8; WIDTH], fold: u8, wanted: u8) -> u64 {
    use core::arch::wasm32::{u8x16_bitmask, u8x16_eq, u8x16_splat, u64x2, v128_or};

    let mut mask = 0;
    for (index, lane) in block.as_chunks::<16>().0.iter().enumerate() {
        let (halves, _) = lane.as_chunks::<8>();
        let [low, high] = halves else { continue };
        let bytes = u64x2(u64::from_le_bytes(*low), u64::from_le_bytes(*high));
        let equal = u8x16_eq(v128_or(bytes, u8x16_splat(fold)), u8x16_splat(wanted));
        mask |= u64::from(u8x16_bitmask(equal)) << (16 * index);
    }
    mask
}
