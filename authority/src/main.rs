//! The binary `authority`: runs the command line of the library.

use std::io::{stderr, stdin, stdout};
use std::process::ExitCode;

use authority::cli::{self, Process};
use authority::clock::SystemClock;

fn main() -> ExitCode {
    let mut process = Process {
        environment: &|name| std::env::var_os(name),
        stdin: &mut stdin(),
        stdout: &mut stdout(),
        stderr: &mut stderr(),
        clock: &SystemClock::new(),
    };
    cli::main(std::env::args_os(), &mut process).into()
}
