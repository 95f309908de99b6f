//! `authority listen --forward-to URL`: forwards a merchant's test-mode events to a receiver on this machine. The
//! receiver needs neither a public URL nor an endpoint (contract 16).
//!
//! The command polls the event stream of the merchant API once a second with the merchant's test key. It sends each
//! event the way a delivery is sent: the stored bytes, signed at the time of sending, with the same client. Several
//! receivers can share a session, each with its event types ([`routes`]). The signing secret is the same for all
//! sessions of a user on a machine ([`secret`]); `--secret-env` uses one that the receiver already knows, and that is
//! not printed: it may be the secret of a real endpoint, which nobody has asked to see. Nothing
//! is retried: the answer is printed, after a 401 with the likely causes ([`refusal`]), and the developer fixes the
//! receiver and repeats with `--from`. `--print-secret` only prints the secret, for the receiver's configuration.
//!
//! A receiver on another machine needs `--allow-remote`, because test events may hold what only this machine should
//! see. Deliberately absent: live mode, because live events are about real people and do not belong on a developer's
//! machine.

mod forward;
mod headers;
mod refusal;
mod routes;
mod screen;
mod secret;
mod stream;

use std::sync::Arc;

use zeroize::Zeroizing;

use super::caller::{address, test_key};
use super::serve::{Signals, block_on};
use super::{Exit, Failure, Process, args, verify};
use crate::clock::SystemClock;
use crate::dev::client::{Api, Http};
use forward::{Forwarded, Forwarder};
pub(super) use refusal::code_of;
use routes::Routes;
use screen::Screen;
use stream::{StartPosition, Stream};

/// Forwards until a signal.
pub(super) fn run(command: args::Listen, process: &mut Process<'_>) -> Result<Exit, Failure> {
    if command.print_secret {
        let secret = secret::of_session(command.secret_env, process.environment)?;
        return print_secret(&secret, process);
    }
    let routes = Routes::parse(&command.forward_to, command.allow_remote)?;
    let headers = headers::parse(&command.header)?;
    let key = test_key(process.environment)?;
    let url = address(command.url.as_deref(), process.environment)?;
    let types = command.events.as_deref().map(routes::types).transpose()?.or_else(|| routes.types());
    let is_new_to_receivers = command.secret_env.is_none();
    let secret = secret::of_session(command.secret_env, process.environment)?;
    let beginning = StartPosition::parse(&command.from);
    block_on(async {
        let mut signals = Signals::listen()?;
        let http = Http::new().map_err(Failure::failed)?;
        let api = Api::new(http, &url, "/v1/merchant", key);
        let forwarder = Forwarder::new(headers, secret.clone(), Arc::new(SystemClock::new()))?;
        let mut stream = tokio::select! {
            opened = Stream::open(api, beginning, types) => opened.map_err(Failure::failed)?,
            () = signals.next() => return Ok(Exit::Done),
        };
        let mut screen = Screen::new(process, command.json);
        screen.open(&routes, is_new_to_receivers.then_some(secret.as_str()))?;
        loop {
            let mut tell = |trouble: &str| screen.trouble(trouble);
            let event = tokio::select! {
                event = stream.next(&mut tell) => event.map_err(Failure::failed)?,
                () = signals.next() => break,
            };
            // `--events` may let in a type that no receiver takes.
            if let Some(target) = routes.target(&event.event_type) {
                // A signal takes effect after the answer, at most one attempt's deadline later.
                let forwarded = forwarder.forward(&event, target).await;
                screen.forwarded(&event, target, &forwarded)?;
            }
            stream.done(event);
        }
        screen.close(stream.position())?;
        Ok(Exit::Done)
    })
}

fn print_secret(secret: &Zeroizing<String>, process: &mut Process<'_>) -> Result<Exit, Failure> {
    secret::usable(secret)?;
    writeln!(process.stdout, "{}", **secret)?;
    process.stdout.flush()?;
    Ok(Exit::Done)
}
