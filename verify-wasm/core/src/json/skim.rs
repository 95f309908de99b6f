//! Passing over a container without checking its grammar, for a caller who parses the text afterwards.
//!
//! A JavaScript receiver hands the verified text to `JSON.parse`, which checks the grammar once more. What that lets
//! through and contract 10.4 does not is looked for here: too much nesting, half a surrogate pair, a number beyond the
//! doubles. (Repeated names matter only in objects that the reader of events enters.) If the parser accepts the text,
//! then the quotation marks that are not escaped begin and end strings, and the brackets outside of strings nest; so
//! 64 bytes at a time are told by their bits where the container ends.
//!
//! Whatever might be wrong is not judged: [`container`] gives up, and the caller walks. It gives up for a good text
//! too, when that has an exponent, very long numbers or half-pairs that belong together; these are rare.

use super::masks::{Masks, WIDTH};

/// A number that needs no exponent to be beyond the doubles has 309 digits, so it covers at least so many blocks.
const LONG_NUMBER_BLOCKS: u32 = 3;

const ODD_BITS: u64 = 0xaaaa_aaaa_aaaa_aaaa;

/// What follows the container that `text` begins with, in which at most `room` are nested. `None` when that takes a
/// closer look.
pub(super) fn container(text: &[u8], room: u8) -> Option<&[u8]> {
    let mut state = State { text, room: room.into(), ..State::default() };
    let (blocks, tail) = text.as_chunks();
    for (index, block) in blocks.iter().enumerate() {
        if let Some(end) = state.block(block, index * WIDTH)? {
            return text.get(end..);
        }
    }
    // Blanks change nothing.
    let mut last = [b' '; WIDTH];
    for (place, byte) in last.iter_mut().zip(tail) {
        *place = *byte;
    }
    let end = state.block(&last, blocks.len() * WIDTH)??;
    text.get(end..)
}

/// What is known at the beginning of a block.
#[derive(Default)]
struct State<'t> {
    text: &'t [u8],
    room: u32,
    depth: u32,
    /// All bits when a string is open.
    in_string: u64,
    /// The lowest bit when the block's first byte is escaped.
    escaped: u64,
    /// How many blocks before had no quotation mark and no bracket, outside of strings.
    plain_blocks: u32,
}

impl State<'_> {
    /// Takes the block that begins at `at`. The end of the container, if it is there.
    #[inline(always)]
    fn block(&mut self, block: &[u8; WIDTH], at: usize) -> Option<Option<usize>> {
        let masks = Masks::of(block);
        let mut quotes = masks.quotes;
        if masks.backslashes | self.escaped != 0 {
            let escaped = self.escaped_by(masks.backslashes);
            if self.may_begin_half_pair(escaped, at) {
                return None;
            }
            quotes &= !escaped;
        }
        let strings = prefix_xor(quotes) ^ self.in_string;
        let opens = masks.opens & !strings;
        let closes = masks.closes & !strings;
        if self.has_exponent(masks.exponents & !strings, at) {
            return None;
        }
        let is_plain = quotes | opens | closes | self.in_string == 0;
        self.plain_blocks = if is_plain { self.plain_blocks + 1 } else { 0 };
        if self.plain_blocks >= LONG_NUMBER_BLOCKS || self.depth + opens.count_ones() > self.room {
            return None;
        }
        self.in_string = ((strings as i64) >> 63) as u64;
        if closes.count_ones() < self.depth {
            self.depth = self.depth + opens.count_ones() - closes.count_ones();
            return Some(None);
        }
        Some(self.end(opens, closes).map(|bit| at + bit + 1))
    }

    /// Goes from bracket to bracket. The place of the last one, if it is in this block.
    #[inline(never)]
    fn end(&mut self, opens: u64, closes: u64) -> Option<usize> {
        let mut brackets = opens | closes;
        while brackets != 0 {
            let lowest = brackets & brackets.wrapping_neg();
            if opens & lowest != 0 {
                self.depth += 1;
            } else {
                // At depth 0 there was no container to begin with, and the text is refused by whoever parses it.
                self.depth = self.depth.saturating_sub(1);
                if self.depth == 0 {
                    return Some(lowest.trailing_zeros() as usize);
                }
            }
            brackets ^= lowest;
        }
        None
    }

    /// Which bytes have a backslash before them that is not escaped itself.
    ///
    /// The carry of a subtraction runs through each row of backslashes, and tells rows of odd length from even ones.
    fn escaped_by(&mut self, backslashes: u64) -> u64 {
        let first = backslashes & !self.escaped;
        let behind_or_odd = (first << 1) | ODD_BITS;
        let flipped = behind_or_odd.wrapping_sub(first) ^ ODD_BITS;
        let escaped = flipped ^ (backslashes | self.escaped);
        self.escaped = (flipped & backslashes) >> 63;
        escaped
    }

    /// Whether a `\u` escape among these writes a unit from D000 on, as halves of pairs are.
    fn may_begin_half_pair(&self, escaped: u64, at: usize) -> bool {
        self.any(escaped, at, |text| matches!(text, [b'u', b'd' | b'D', ..]))
    }

    /// Whether a number has an exponent here: other letters e outside of strings are those of `true` and `false`.
    fn has_exponent(&self, letters: u64, at: usize) -> bool {
        // The container's own bracket comes first, so there is a byte before.
        self.any(letters, at.wrapping_sub(1), |text| matches!(text, [b'0'..=b'9', ..]))
    }

    fn any(&self, mut bits: u64, at: usize, found: impl Fn(&[u8]) -> bool) -> bool {
        while bits != 0 {
            let place = at.wrapping_add(bits.trailing_zeros() as usize);
            if self.text.get(place..).is_some_and(&found) {
                return true;
            }
            bits &= bits - 1;
        }
        false
    }
}

/// Each bit becomes the sum of itself and all lower ones: set from a quotation mark to before the next.
#[inline(always)]
fn prefix_xor(mut bits: u64) -> u64 {
    for shift in [1, 2, 4, 8, 16, 32] {
        bits ^= bits << shift;
    }
    bits
}
