//! The binary `authority`: runs the command line of the library.

use std::io::{stderr, stdin, stdout};
use std::process::ExitCode;

use anstream::{AutoStream, ColorChoice};
use authority::cli::{self, Process};
use authority::clock::SystemClock;

// The released binary is linked with musl, whose own allocator makes all threads wait for one lock. Every other build
// has the same allocator, so that what is measured is what is released.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let variables: Vec<_> = std::env::vars_os().map(|(name, _)| name).collect();
    let mut process = Process {
        environment: &|name| std::env::var_os(name),
        variables: &variables,
        stdin: &mut stdin(),
        stdout: &mut stdout(),
        stderr: &mut stderr(),
        colour: AutoStream::choice(&stdout()) != ColorChoice::Never,
        clock: &SystemClock::new(),
    };
    cli::main(std::env::args_os(), &mut process).into()
}
