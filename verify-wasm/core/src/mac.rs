//! HMAC-SHA256 (RFC 2104) whose key is prepared once.
//!
//! The key fills one block before the message and one before the inner digest. Both blocks are hashed when the
//! secret is read, so that a message costs its own blocks and one more. The states are plain words here, because
//! a host without objects of ours (the WebAssembly module) keeps them between calls, and because a host with a
//! faster SHA-256 may compute the inner digest itself.
//!
//! The compression function is that of the `sha2` crate, which takes the processor's own instructions where they
//! exist. Deliberately absent: any other key handling, and comparison (see [`crate::verify`]).

use sha2::block_api::compress256;
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

/// Bytes of one block of SHA-256, and so of a pad.
pub const BLOCK_LEN: usize = 64;
/// Bytes of a digest.
pub const DIGEST_LEN: usize = 32;
/// Bytes of two prepared states, the inner one first.
pub const STATES_LEN: usize = 2 * DIGEST_LEN;

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
        let key = Zeroizing::new(key_block(key));
        let after = |pad: u8| {
            let mut state = START;
            compress256(&mut state, &[*Zeroizing::new(key.map(|byte| byte ^ pad))]);
            state
        };
        Self { inner: after(0x36), outer: after(0x5c) }
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

    pub(crate) fn to_bytes(&self) -> [u8; STATES_LEN] {
        let mut bytes = [0; STATES_LEN];
        let words = self.inner.iter().chain(&self.outer);
        for (place, word) in bytes.as_chunks_mut().0.iter_mut().zip(words) {
            *place = word.to_be_bytes();
        }
        bytes
    }

    pub(crate) fn from_bytes(bytes: &[u8; STATES_LEN]) -> Self {
        let mut states = Self { inner: START, outer: START };
        let words = states.inner.iter_mut().chain(&mut states.outer);
        for (word, place) in words.zip(bytes.as_chunks().0) {
            *word = u32::from_be_bytes(*place);
        }
        states
    }
}

/// The block that stands before the message, for a host that hashes it itself.
pub(crate) fn inner_pad(key: &[u8]) -> [u8; BLOCK_LEN] {
    key_block(key).map(|byte| byte ^ 0x36)
}

/// A key of any length as one block: itself, or its digest when it is longer, and zeros.
fn key_block(key: &[u8]) -> [u8; BLOCK_LEN] {
    let mut block = [0; BLOCK_LEN];
    if let Some(place) = block.get_mut(..key.len()) {
        place.copy_from_slice(key);
    } else {
        let mut hash = Stream { state: START, block: [0; BLOCK_LEN], used: 0, length: 0 };
        hash.update(key);
        for (place, byte) in block.iter_mut().zip(hash.finish()) {
            *place = byte;
        }
    }
    block
}

/// SHA-256 of parts that come one after the other.
struct Stream {
    state: [u32; 8],
    /// The last bytes, as long as they do not fill a block.
    block: [u8; BLOCK_LEN],
    used: usize,
    /// Bytes so far.
    length: u64,
}

impl Drop for Stream {
    fn drop(&mut self) {
        // The message is no secret; what the key has become is.
        self.state.zeroize();
    }
}

impl Stream {
    fn after_one_block(state: [u32; 8]) -> Self {
        Self { state, block: [0; BLOCK_LEN], used: 0, length: BLOCK_LEN as u64 }
    }

    fn update(&mut self, mut data: &[u8]) {
        self.length += data.len() as u64;
        if self.used > 0 {
            let (start, rest) = data.split_at(data.len().min(BLOCK_LEN - self.used));
            self.keep(start);
            data = rest;
            if self.used < BLOCK_LEN {
                return;
            }
            compress256(&mut self.state, &[self.block]);
            self.used = 0;
        }
        let (blocks, rest) = data.as_chunks();
        compress256(&mut self.state, blocks);
        self.keep(rest);
    }

    /// Keeps what is no longer than the room that is left.
    fn keep(&mut self, data: &[u8]) {
        let end = self.used + data.len();
        if let Some(place) = self.block.get_mut(self.used..end) {
            place.copy_from_slice(data);
            self.used = end;
        }
    }

    /// Ends with a one bit, zeros and the length in bits (FIPS 180-4, 5.1.1).
    fn finish(mut self) -> [u8; DIGEST_LEN] {
        const LENGTH_AT: usize = BLOCK_LEN - size_of::<u64>();
        let mut block = [0; BLOCK_LEN];
        let kept = self.block.iter().take(self.used).copied().chain([0x80]);
        for (place, byte) in block.iter_mut().zip(kept) {
            *place = byte;
        }
        if self.used >= LENGTH_AT {
            compress256(&mut self.state, &[block]);
            block = [0; BLOCK_LEN];
        }
        if let Some(place) = block.last_chunk_mut() {
            *place = (self.length * 8).to_be_bytes();
        }
        compress256(&mut self.state, &[block]);
        let mut digest = [0; DIGEST_LEN];
        for (place, word) in digest.as_chunks_mut().0.iter_mut().zip(self.state) {
            *place = word.to_be_bytes();
        }
        digest
    }
}
