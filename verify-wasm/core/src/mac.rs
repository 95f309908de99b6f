//! HMAC-SHA256 (RFC 2104) whose key is prepared once.
//!
//! The key fills one block before the message and one before the inner digest. Both blocks are hashed when the
//! secret is read, so that a message costs its own blocks and one more. The states are plain words here, because
//! a host without objects of ours (the WebAssembly module) keeps them between calls, and because a host with a
//! faster SHA-256 may compute the inner digest itself. The `hmac` crate hands out neither; where nothing crosses
//! into JavaScript (the authority's signing), it is used instead.
//!
//! The compression function is that of the `sha2` crate, which takes the processor's own instructions where they
//! exist; buffer and padding are those of its `digest` crate. Deliberately absent: any other key handling, and
//! comparison (see [`crate::verify`]).

use core::slice;

use sha2::block_api::compress256;
use sha2::digest::array::Array;
use sha2::digest::block_buffer::EagerBuffer;
use sha2::digest::consts::U64;
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

/// Bytes of one block of SHA-256, and so of a pad.
pub const BLOCK_LEN: usize = 64;
/// Bytes of a digest.
pub const DIGEST_LEN: usize = 32;
/// Bytes of two prepared states, the inner one first.
pub const STATES_LEN: usize = 2 * DIGEST_LEN;

/// What the two pads have on every byte of the key (RFC 2104).
const INNER: u8 = 0x36;
const OUTER: u8 = 0x5c;

/// What SHA-256 starts from (FIPS 180-4, 5.3.3).
const START: [u32; 8] =
    [0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19];

/// A key as the two states in which every message's hashing begins and ends. Zeroed on drop.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct KeyStates {
    inner: [u32; 8],
    outer: [u32; 8],
}

impl KeyStates {
    /// Prepares a key of any length. Which texts are usable as a signing secret is for
    /// [`Secret`](crate::Secret) to say.
    #[must_use]
    pub fn new(key: &[u8]) -> Self {
        let mut states = Self::of_nothing();
        states.prepare(key);
        states
    }

    pub(crate) const fn of_nothing() -> Self {
        Self { inner: START, outer: START }
    }

    /// Takes the key in place: what is handed on by value leaves copies behind, which nobody wipes.
    pub(crate) fn prepare(&mut self, key: &[u8]) {
        let mut block = Zeroizing::new([0; BLOCK_LEN]);
        for (state, mask) in [(&mut self.inner, INNER), (&mut self.outer, OUTER)] {
            write_pad(&mut block, key, mask);
            *state = START;
            compress256(state, slice::from_ref(&block));
        }
    }

    /// The code of the message that `parts` make together.
    #[must_use]
    pub fn mac<'p>(&self, parts: impl IntoIterator<Item = &'p [u8]>) -> [u8; DIGEST_LEN] {
        let mut inner = Stream::after_one_block(self.inner);
        for part in parts {
            inner.update(part);
        }
        self.outer_digest(&inner.finish())
    }

    /// The code of a message, from the digest of inner pad and message.
    pub(crate) fn outer_digest(&self, inner: &[u8; DIGEST_LEN]) -> [u8; DIGEST_LEN] {
        let mut outer = Stream::after_one_block(self.outer);
        outer.update(inner);
        outer.finish()
    }

    pub(crate) fn write_to(&self, bytes: &mut [u8; STATES_LEN]) {
        let words = self.inner.iter().chain(&self.outer);
        for (place, word) in bytes.as_chunks_mut().0.iter_mut().zip(words) {
            *place = word.to_be_bytes();
        }
    }

    pub(crate) fn from_bytes(bytes: &[u8; STATES_LEN]) -> Self {
        let mut states = Self::of_nothing();
        let words = states.inner.iter_mut().chain(&mut states.outer);
        for (word, place) in words.zip(bytes.as_chunks().0) {
            *word = u32::from_be_bytes(*place);
        }
        states
    }
}

/// Writes the block that stands before the message, for a host that hashes it itself.
pub(crate) fn write_inner_pad(block: &mut [u8; BLOCK_LEN], key: &[u8]) {
    write_pad(block, key, INNER);
}

/// A key of any length as one block (itself, or its digest when it is longer, and zeros), with `mask` on every byte.
fn write_pad(block: &mut [u8; BLOCK_LEN], key: &[u8], mask: u8) {
    block.fill(0);
    if let Some(place) = block.get_mut(..key.len()) {
        place.copy_from_slice(key);
    } else {
        let mut hash = Stream { state: START, buffer: EagerBuffer::default(), length: 0 };
        hash.update(key);
        let digest = Zeroizing::new(hash.finish());
        for (place, byte) in block.iter_mut().zip(digest.iter()) {
            *place = *byte;
        }
    }
    for byte in block {
        *byte ^= mask;
    }
}

/// SHA-256 of parts that come one after the other. The buffer wipes itself, as the state is wiped here. Its functions
/// are called in several places; a copy in each would make the module 0.7 KB larger.
struct Stream {
    state: [u32; 8],
    buffer: EagerBuffer<U64>,
    /// Bytes so far.
    length: u64,
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.state.zeroize();
    }
}

impl Stream {
    fn after_one_block(state: [u32; 8]) -> Self {
        Self { state, buffer: EagerBuffer::default(), length: BLOCK_LEN as u64 }
    }

    #[inline(never)]
    fn update(&mut self, data: &[u8]) {
        self.length += data.len() as u64;
        let state = &mut self.state;
        self.buffer.digest_blocks(data, |blocks| compress256(state, Array::cast_slice_to_core(blocks)));
    }

    #[inline(never)]
    fn finish(mut self) -> [u8; DIGEST_LEN] {
        let state = &mut self.state;
        self.buffer.len64_padding_be(self.length * 8, |block| compress256(state, slice::from_ref(&block.0)));
        let mut digest = [0; DIGEST_LEN];
        for (place, word) in digest.as_chunks_mut().0.iter_mut().zip(self.state) {
            *place = word.to_be_bytes();
        }
        digest
    }
}
