//! `with-postgres PROGRAM ARGUMENT…`: runs a program that needs databases and is no Rust test.
//!
//! Each argument `{database}` becomes the address of an empty database of its own: on the server that `DATABASE_URL`
//! names, or on a temporary one that goes away with this program.

use std::process::{Command, ExitCode};

const DATABASE: &str = "{database}";

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    let Some(program) = words.next() else {
        eprintln!(
            "with-postgres PROGRAM ARGUMENT…; each {DATABASE} becomes the address of an empty database"
        );
        return ExitCode::from(2);
    };
    let mut command = Command::new(&program);
    for word in words {
        command.arg(if word == DATABASE { postgres_cluster::database().await } else { word });
    }
    match command.status() {
        Ok(status) if status.success() => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{program} cannot be run: {error}");
            ExitCode::FAILURE
        }
    }
}
