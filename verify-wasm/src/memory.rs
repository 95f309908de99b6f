//! The module's memory: fixed places that JavaScript writes to and reads from, then the delivery, then the heap.
//!
//! A delivery takes as much as it needs from [`Place::Body`] on. [`reserve`] says how much that is; what lies behind
//! is the heap, which only grows during a call and is empty again at the start of the next. There is one thread, and
//! nothing is called while a call is going on, because the module imports nothing.
//!
//! This is the one module that touches memory by address.

#![expect(unsafe_code, reason = "linear memory is reached by address, and an allocator is unsafe by nature")]

use core::alloc::{GlobalAlloc, Layout};
use core::arch::wasm32;
use core::slice;
use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};

unsafe extern "C" {
    /// Where the linker's own data ends.
    static __heap_base: u8;
}

const PAGE: usize = 65_536;
const MEMORY: u32 = 0;
/// Where the places begin, counted from the linker's data, rounded up to this.
const ALIGNMENT: usize = 64;

/// What lies where.
#[derive(Clone, Copy)]
pub(crate) enum Place {
    /// The prepared states of up to eight secrets, 64 bytes each.
    States,
    /// Digests that the host has computed, one per secret, 32 bytes each.
    Digests,
    /// What a function has to tell, or a secret on its way in.
    Exchange,
    /// Numbers that a function has to tell, eight doubles.
    Numbers,
    /// The inner pad of a secret, for a host that hashes by itself.
    Pad,
    /// The timestamp's ten digits and a full stop.
    Timestamp,
    /// The body, then the signature, then the event id.
    Body,
}

impl Place {
    pub(crate) const ALL: [Self; 7] =
        [Self::States, Self::Digests, Self::Exchange, Self::Numbers, Self::Pad, Self::Timestamp, Self::Body];

    /// Bytes from the first place to this one.
    const fn offset(self) -> usize {
        match self {
            Self::States => 0,
            Self::Digests => 512,
            Self::Exchange => 768,
            Self::Numbers => 2304,
            Self::Pad => 2368,
            Self::Timestamp => 2432,
            Self::Body => 2443,
        }
    }

    /// The address.
    pub(crate) fn address(self) -> usize {
        let data_end = (&raw const __heap_base).addr();
        data_end.next_multiple_of(ALIGNMENT) + self.offset()
    }
}

/// Where the heap begins.
static HEAP_START: AtomicUsize = AtomicUsize::new(0);
/// Where the next allocation may begin.
static HEAP_NEXT: AtomicUsize = AtomicUsize::new(0);

/// Makes room for a body with headers of `length` bytes in all. `false` when there is not so much memory.
pub(crate) fn reserve(length: usize) -> bool {
    let Some(end) =
        Place::Body.address().checked_add(length).and_then(|end| end.checked_next_multiple_of(16))
    else {
        return false;
    };
    let fits = cover(end);
    if fits {
        HEAP_START.store(end, Relaxed);
    }
    fits
}

/// Empties the heap. Nothing of an earlier call may be in use.
pub(crate) fn clear_heap() {
    HEAP_NEXT.store(HEAP_START.load(Relaxed), Relaxed);
}

/// `length` bytes from a place on; nothing when they would reach into the heap.
pub(crate) fn bytes(place: Place, skip: usize, length: usize) -> &'static [u8] {
    let start = place.address().saturating_add(skip);
    if start.saturating_add(length) > HEAP_START.load(Relaxed) {
        return &[];
    }
    // SAFETY: between the linker's data and the heap there are bytes that only JavaScript and `write` change, and
    // neither does so while a function that reads them runs: JavaScript because it is waiting, `write` because it
    // only touches places from which nothing is read any more.
    unsafe { slice::from_raw_parts(start as *const u8, length) }
}

/// Writes to the beginning of a place, as much as there is room for before the next one.
pub(crate) fn write(place: Place, content: &[u8]) {
    write_behind(place, 0, content);
}

/// The same, `skip` bytes behind the beginning.
pub(crate) fn write_behind(place: Place, skip: usize, content: &[u8]) {
    let room = room(place).get_mut(skip..).unwrap_or_default();
    let length = room.len().min(content.len());
    if let (Some(room), Some(content)) = (room.get_mut(..length), content.get(..length)) {
        room.copy_from_slice(content);
    }
}

/// Overwrites all of a place with zeros.
pub(crate) fn wipe(place: Place) {
    room(place).fill(0);
}

/// The bytes of a place that functions write to.
fn room(place: Place) -> &'static mut [u8] {
    let length = match place {
        Place::Exchange => Place::Numbers.offset() - Place::Exchange.offset(),
        Place::Numbers => Place::Pad.offset() - Place::Numbers.offset(),
        _ => 0,
    };
    // SAFETY: see `bytes`; the callers hold no slice of these two places when they write, and hand this one to nobody.
    unsafe { slice::from_raw_parts_mut(place.address() as *mut u8, length) }
}

/// The bytes as text, if they are UTF-8, and whether all of it is ASCII.
pub(crate) fn as_text(bytes: &[u8]) -> Option<(&str, bool)> {
    if is_ascii(bytes) {
        // SAFETY: ASCII is UTF-8.
        return Some((unsafe { str::from_utf8_unchecked(bytes) }, true));
    }
    str::from_utf8(bytes).ok().map(|text| (text, false))
}

/// Looks at 64 bytes at once; the standard library, at 8.
fn is_ascii(bytes: &[u8]) -> bool {
    let (blocks, rest) = bytes.as_chunks::<64>();
    let high_bits = |block: &[u8; 64]| {
        let lanes = block.as_ptr().cast::<wasm32::v128>();
        // SAFETY: 64 bytes are four vectors, and WebAssembly loads them from any address.
        let [a, b, c, d] = [0, 1, 2, 3].map(|lane| unsafe { wasm32::v128_load(lanes.add(lane)) });
        wasm32::u8x16_bitmask(wasm32::v128_or(wasm32::v128_or(a, b), wasm32::v128_or(c, d)))
    };
    rest.is_ascii() && blocks.iter().all(|block| high_bits(block) == 0)
}

/// Grows the memory until it reaches `end`.
fn cover(end: usize) -> bool {
    let missing = end.div_ceil(PAGE).saturating_sub(wasm32::memory_size(MEMORY));
    missing == 0 || wasm32::memory_grow(MEMORY, missing) != usize::MAX
}

struct Heap;

#[global_allocator]
static HEAP: Heap = Heap;

// SAFETY: allocations lie one behind the other in memory that nothing else uses, each aligned as asked, and none is
// handed out again before the heap is cleared, which happens between two calls only.
unsafe impl GlobalAlloc for Heap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let start = HEAP_NEXT.load(Relaxed).next_multiple_of(layout.align());
        match start.checked_add(layout.size()) {
            Some(end) if cover(end) => {
                HEAP_NEXT.store(end, Relaxed);
                start as *mut u8
            }
            _ => core::ptr::null_mut(),
        }
    }

    unsafe fn dealloc(&self, _: *mut u8, _: Layout) {}
}

/// No panic is reachable from outside (the lints of the workspace see to that). Should one happen after all, the
/// instance traps: JavaScript gets a `WebAssembly.RuntimeError`, never a wrong verdict.
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    wasm32::unreachable()
}
