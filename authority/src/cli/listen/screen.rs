//! What a session prints: text for people, or one JSON object per line.

use authority_domain::Timestamp;
use authority_domain::endpoint::url::TargetUrl;
use serde_json::{Value, json};

use super::routes::Routes;
use super::stream::Event;
use super::{Failure, Forwarded, Process, verify};
use crate::cli::plain;
use crate::cli::style::{Tone, cell};

/// Standard output and standard error of a session.
pub(super) struct Screen<'s, 'e> {
    process: &'s mut Process<'e>,
    json: bool,
    /// Whether the lines have to say which receiver is meant.
    several: bool,
    /// The receiver and the code of the refusal that was explained last: the same causes are not printed for every
    /// event.
    explained: Option<(String, Option<&'static str>)>,
}

impl<'s, 'e> Screen<'s, 'e> {
    pub(super) fn new(process: &'s mut Process<'e>, json: bool) -> Self {
        Self { process, json, several: false, explained: None }
    }

    /// The heading: where events go, and the secret that they are signed with, if the receiver has to be given it.
    pub(super) fn open(&mut self, routes: &Routes, secret: Option<&str>) -> Result<(), Failure> {
        self.several = routes.iter().count() > 1;
        if self.json {
            let routes: Vec<Value> = routes
                .iter()
                .map(|(types, target)| json!({ "type": types, "url": target.as_str() }))
                .collect();
            let mut line = json!({ "listening": true, "forward_to": routes });
            if let (Some(line), Some(secret)) = (line.as_object_mut(), secret) {
                line.insert("secret".to_owned(), json!(secret));
            }
            return self.print(line.to_string());
        }
        for (types, target) in routes.iter() {
            let events = types.map_or_else(
                || if self.several { "all other test events".to_owned() } else { "test events".to_owned() },
                |types| format!("{types} in test mode"),
            );
            self.print(format!("Forwarding {events} to {}", target.as_str()))?;
        }
        if let Some(secret) = secret {
            self.print(format!("Signing secret: {secret}"))?;
        }
        self.print("Ctrl-C stops.\n".to_owned())
    }

    /// What a receiver answered.
    pub(super) fn forwarded(
        &mut self,
        event: &Event,
        target: &TargetUrl,
        forwarded: &Forwarded,
    ) -> Result<(), Failure> {
        let Forwarded { at, status, code, outcome, duration_ms, refusal } = forwarded;
        let url = target.as_str();
        if self.json {
            let mut line = json!({
                "type": event.event_type, "id": event.id, "sequence": event.sequence, "method": "POST", "url": url,
                "status": status, "outcome": outcome, "duration_ms": duration_ms,
            });
            if let Some(line) = line.as_object_mut() {
                if let Some(code) = code {
                    line.insert("code".to_owned(), json!(code));
                }
                if let Some(refusal) = refusal {
                    line.insert("code".to_owned(), json!(refusal.code));
                    line.insert("causes".to_owned(), verify::json_of(&refusal.causes));
                }
            }
            return self.print(line.to_string());
        }
        let answer = status.map_or_else(|| (*outcome).to_owned(), |status| status.to_string());
        let tone = Tone::of(outcome).unwrap_or(Tone::Bad);
        let answer = cell(&answer, 0, Some(tone), self.process.colour);
        let time = Timestamp::from_ms(*at).to_string();
        let code = code.as_ref().map_or_else(String::new, |code| plain(&format!(" {code}")));
        let to = if self.several { format!(" {url}") } else { String::new() };
        self.print(format!(
            "{time}  POST {} {}{to} -> {answer}{code} ({duration_ms} ms)",
            plain(&event.event_type),
            plain(&event.id)
        ))?;
        let Some(refusal) = refusal else { return Ok(()) };
        let seen = Some((url.to_owned(), refusal.code));
        if self.explained == seen {
            return Ok(());
        }
        self.explained = seen;
        self.print(format!(
            "\nThe receiver refused the delivery. Likely causes:\n{}",
            verify::text_of(&refusal.causes)
        ))
    }

    /// Printed on standard error, so that it does not mix with the events.
    pub(super) fn trouble(&mut self, trouble: &str) {
        // When standard error is closed, there is nowhere left to report to.
        let _ = writeln!(self.process.stderr, "authority: {}; trying again", plain(trouble));
    }

    /// Where another session can go on.
    pub(super) fn close(&mut self, position: Option<&str>) -> Result<(), Failure> {
        if let Some(position) = position {
            writeln!(self.process.stderr, "authority: to go on from here: --from {}", plain(position))?;
        }
        Ok(())
    }

    fn print(&mut self, line: String) -> Result<(), Failure> {
        writeln!(self.process.stdout, "{line}")?;
        Ok(self.process.stdout.flush()?)
    }
}
