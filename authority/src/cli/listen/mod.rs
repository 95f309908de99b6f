//! `authority listen --forward-to URL`: forwards a merchant's test-mode events to a receiver on this machine. The
//! receiver needs neither a public URL nor an endpoint (contract 16).
//!
//! The command polls the event stream of the merchant API once a second with the merchant's test key. It sends each
//! event the way a delivery is sent: the stored bytes, signed at the time of sending, with the same client. It makes a
//! signing secret for the session and prints it once; `--secret-env` uses a secret that the receiver already knows.
//! Nothing is retried: the answer is printed, and the developer fixes the receiver and repeats with `--from`.
//!
//! Deliberately absent: live mode, because live events are about real people and do not belong on a developer's
//! machine; and receivers on other machines, because endpoints serve those.

mod forward;
mod stream;

use std::sync::Arc;

use authority_domain::endpoint::url::{NetworkScope, TargetUrl, UrlPolicy, UrlRules};
use authority_domain::time::Timestamp;
use serde_json::json;
use verify_core::catalog::EventType;
use verify_core::secret;
use zeroize::Zeroizing;

use super::caller::{address, test_key};
use super::serve::{Signals, block_on};
use super::{Exit, Failure, Process, args, secrets};
use crate::clock::SystemClock;
use crate::config::Lookup;
use crate::dev::client::{Api, Http};
use crate::dice::{Dice as _, SystemDice};
use forward::{Forwarded, Forwarder};
use stream::{StartPosition, Stream};

/// Forwards until a signal.
pub(super) fn run(command: args::Listen, process: &mut Process<'_>) -> Result<Exit, Failure> {
    let target = target(&command.forward_to)?;
    let key = test_key(process.environment)?;
    let url = address(command.url.as_deref(), process.environment)?;
    let types = command.events.as_deref().map(types).transpose()?;
    let secret = session_secret(command.secret_env, process.environment)?;
    let beginning = StartPosition::parse(&command.from);
    block_on(async {
        let mut signals = Signals::listen()?;
        let http = Http::new().map_err(failed)?;
        let api = Api::new(http, &url, "/v1/merchant", key);
        let forwarder = Forwarder::new(target, &secret, Arc::new(SystemClock::new()))?;
        let mut stream = tokio::select! {
            opened = Stream::open(api, beginning, types) => opened.map_err(failed)?,
            () = signals.next() => return Ok(Exit::Done),
        };
        let mut screen = Screen { process, json: command.json };
        screen.open(forwarder.target(), &secret)?;
        loop {
            let mut tell = |trouble: &str| screen.trouble(trouble);
            let event = tokio::select! {
                event = stream.next(&mut tell) => event.map_err(failed)?,
                () = signals.next() => break,
            };
            // A signal takes effect after the answer, at most one attempt's deadline later.
            let forwarded = forwarder.forward(&event).await;
            screen.forwarded(&event, &forwarded)?;
            stream.done(event);
        }
        screen.close(stream.position())?;
        Ok(Exit::Done)
    })
}

/// A receiver on this machine.
fn target(text: &str) -> Result<TargetUrl, Failure> {
    let rules = UrlRules::new(UrlPolicy::Development);
    let target = rules.parse(text, false).ok().filter(|target| target.reach() == NetworkScope::Loopback);
    target.ok_or_else(|| {
        Failure::Usage(
            "--forward-to must be an http or https URL of this machine: 127.0.0.1, [::1] or localhost"
                .to_owned(),
        )
    })
}

/// The filter of the event list: catalog names and `category.*`, separated by commas.
fn types(text: &str) -> Result<String, Failure> {
    let known = |name: &str| {
        EventType::parse(name).is_some()
            || name
                .strip_suffix(".*")
                .is_some_and(|category| EventType::ALL.iter().any(|event| event.category() == category))
    };
    if text.split(',').all(known) {
        return Ok(text.to_owned());
    }
    Err(Failure::Usage("--events must be event types or category.*, separated by commas".to_owned()))
}

/// The secret in the named variable, or a new one when no variable is named.
fn session_secret(
    variable: Option<std::ffi::OsString>,
    environment: Lookup<'_>,
) -> Result<Zeroizing<String>, Failure> {
    let Some(variable) = variable else {
        let mut random = [0; 32];
        SystemDice.fill(&mut random);
        return Ok(Zeroizing::new(secret::generate(random)));
    };
    let named = secrets::from_environment("--secret-env", vec![variable], environment)?.pop();
    Ok(named.map(|named| named.text).unwrap_or_default())
}

fn failed(error: impl std::fmt::Display) -> Failure {
    Failure::Failed(error.to_string())
}

/// Prints the results: as text for people, or as one JSON object per line.
struct Screen<'s, 'e> {
    process: &'s mut Process<'e>,
    json: bool,
}

impl Screen<'_, '_> {
    fn open(&mut self, target: &TargetUrl, secret: &str) -> Result<(), Failure> {
        let url = target.as_str();
        self.print(if self.json {
            json!({ "listening": true, "forward_to": url, "secret": secret }).to_string()
        } else {
            format!(
                "Forwarding test events to {url}\nSigning secret of this session: {secret}\nCtrl-C stops.\n"
            )
        })
    }

    fn forwarded(&mut self, event: &stream::Event, forwarded: &Forwarded) -> Result<(), Failure> {
        let Forwarded { at, status, outcome, duration_ms } = forwarded;
        self.print(if self.json {
            json!({
                "type": event.event_type, "id": event.id, "sequence": event.sequence, "method": "POST",
                "status": status, "outcome": outcome, "duration_ms": duration_ms,
            })
            .to_string()
        } else {
            let answer = status.map_or_else(|| (*outcome).to_owned(), |status| status.to_string());
            let time = Timestamp::from_ms(*at).to_string();
            format!("{time}  POST {} {} -> {answer} ({duration_ms} ms)", event.event_type, event.id)
        })
    }

    /// Printed on standard error, so that it does not mix with the events.
    fn trouble(&mut self, trouble: &str) {
        // When standard error is closed, there is nowhere left to report to.
        let _ = writeln!(self.process.stderr, "authority: {trouble}; trying again");
    }

    fn close(&mut self, position: Option<&str>) -> Result<(), Failure> {
        if let Some(position) = position {
            writeln!(self.process.stderr, "authority: to go on from here: --from {position}")?;
        }
        Ok(())
    }

    fn print(&mut self, line: String) -> Result<(), Failure> {
        writeln!(self.process.stdout, "{line}")?;
        Ok(self.process.stdout.flush()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_receivers_of_this_machine_are_forwarded_to() {
        for allowed in [
            "http://127.0.0.1:3000/hook",
            "http://localhost:3000",
            "https://[::1]:8443/",
            "http://localhost/",
        ] {
            assert!(target(allowed).is_ok(), "{allowed}");
        }
        for refused in
            ["https://hooks.example.com/", "http://10.0.0.1/", "http://127.0.0.2/", "localhost:3000", ""]
        {
            assert!(
                matches!(target(refused), Err(Failure::Usage(line)) if line.starts_with("--forward-to "))
            );
        }
    }

    #[test]
    fn a_misspelt_event_type_is_told_before_anything_is_asked() {
        for allowed in ["order.created", "order.*,refund.completed", "webhook.*"] {
            assert_eq!(types(allowed), Ok(allowed.to_owned()));
        }
        for refused in ["", "order", "*", "order.*,", "orders.*", "order.create"] {
            assert!(matches!(types(refused), Err(Failure::Usage(line)) if line.starts_with("--events ")));
        }
    }
}
