//! The fuzz target of that name; what it does stands in `verify_hardening::targets`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| verify_hardening::targets::explain(data));
