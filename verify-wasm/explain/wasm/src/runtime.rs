//! What the standard library would bring along on this target: an allocator and an end for panics.
//!
//! No panic is reachable from outside (the lints of the workspace see to that). Should one happen after all, the
//! instance traps: JavaScript gets a `WebAssembly.RuntimeError`, never a wrong verdict.

use talc::wasm::{WasmDynamicTalc, new_wasm_dynamic_allocator};

#[global_allocator]
static ALLOCATOR: WasmDynamicTalc = new_wasm_dynamic_allocator();

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    core::arch::wasm32::unreachable()
}
