//! What `authority dev` prints on standard output: text for a person, or with `--json` the summary alone.

use std::io;
use std::path::absolute;

use verify_core::receiver::Verdict;

use super::Failure;
use crate::cli::Process;
use crate::dev::data_dir::{DataDir, SavedEndpoint};
use crate::dev::probes::Answered;
use crate::dev::receiver::{self, Arrival};
use crate::dev::stage::Stage;
use crate::dev::tally::{Rejected, Summary};

/// Standard output, as text or as JSON.
pub(super) struct Screen<'s, 'e> {
    process: &'s mut Process<'e>,
    json: bool,
    /// Whether refusals and duplicates are shown as they arrive. During the demo they are shown as answers instead.
    after_the_play: bool,
}

impl<'s, 'e> Screen<'s, 'e> {
    pub(super) fn new(process: &'s mut Process<'e>, json: bool) -> Self {
        Self { process, json, after_the_play: false }
    }

    /// The heading of the events.
    pub(super) fn open(&mut self, data: &DataDir, endpoint: &SavedEndpoint) -> io::Result<()> {
        let (path, url) = (data.path().display(), receiver::url(endpoint.port));
        self.text(&format!("\nData in {path}, receiver at {url}\n\nEvents, each verified by the receiver, in the order of the stream:\n"))
    }

    /// One line for an event that arrived for the first time.
    pub(super) fn arrival(&mut self, arrival: &Arrival) -> io::Result<()> {
        let line = match (&arrival.event, arrival.verdict) {
            (Some(event), Verdict::First) => {
                let sequence = event.sequence.map_or_else(|| "-".to_owned(), |sequence| sequence.to_string());
                format!("  {:<26} {} sequence {sequence}\n", event.event_type, event.id)
            }
            _ if !self.after_the_play => return Ok(()),
            (Some(event), verdict) => format!("  {:<26} {} {}\n", event.event_type, event.id, verdict.code()),
            (None, verdict) => format!("  refused: {}\n", verdict.code()),
        };
        self.text(&line)
    }

    /// How the receiver answered each probe.
    pub(super) fn answers(&mut self, answers: &[Answered]) -> io::Result<()> {
        let mut text = "\nSent to the receiver by hand:\n".to_owned();
        for Answered { probe, status, code } in answers {
            text.push_str(&format!("  {:<18} -> {status} {code}\n", probe.name()));
        }
        self.text(&text)
    }

    /// The summary, as text or as JSON.
    pub(super) fn summary(&mut self, summary: &Summary) -> Result<(), Failure> {
        if self.json {
            return self.process.json(summary);
        }
        let Summary { events_emitted, delivered, verified, claimed, duplicates_suppressed, rejected, lost } =
            summary;
        let Rejected { invalid_signature, stale_timestamp } = rejected;
        Ok(self.text(&format!(
            "\nEvents: {events_emitted} emitted, {delivered} delivered, {verified} verified, {claimed} claimed, \
             {lost} lost\nDuplicates suppressed: {duplicates_suppressed}\n\
             Rejected: {invalid_signature} invalid_signature, {stale_timestamp} stale_timestamp\n"
        ))?)
    }

    /// The keys and the `curl` lines to paste, for the time after the demo.
    pub(super) async fn invite(
        &mut self,
        stage: &Stage,
        data: &DataDir,
        order_number: &str,
    ) -> Result<(), Failure> {
        self.after_the_play = true;
        let kept = data.kept_path().display().to_string();
        // The other terminal may be in another directory.
        let env = absolute(data.env_path()).unwrap_or_else(|_| data.env_path()).display().to_string();
        let env = word(&env);
        if self.json {
            tracing::info!(keys = kept, "staying up until SIGINT or SIGTERM");
            return Ok(());
        }
        let claimed = stage.receiver.inbox.count().await.map_err(Failure::failed)?;
        let demo = &stage.demo;
        let (merchant, operator) = (demo.merchant.root(), demo.operator.root());
        let (merchant_id, endpoint_id) = (&demo.merchant_id, &demo.endpoint.id);
        let as_merchant = "curl -sw '\\n' -H \"Authorization: Bearer $AUTHORITY_API_KEY\"";
        let as_operator =
            "curl -sw '\\n' -H \"Authorization: Bearer $OPERATOR_KEY\" -H 'Content-Type: application/json'";
        let checkout = r#"{"currency":"USD","line_items":[{"name":"Mug","quantity":1,"unit_amount":900}]}"#;
        let program = program();
        let (console, portal) = demo.signed_in_pages(&stage.service).await?;
        let console = console.map_or(String::new(), |address| format!("{address}\n"));
        Ok(self.text(&format!(
            "\nThe receiver's inbox now holds {claimed} events. Keys, for this machine only:\n\n\
             export AUTHORITY_API_KEY={key}\n\
             export OPERATOR_KEY={operator_key}\n\n\
             Paste the two lines above into another terminal, or read them there with `. {env}`. Then any of these:\n\n\
             {as_merchant} {merchant}/orders/{order_number}\n\
             {as_merchant} '{merchant}/events?limit=3'\n\
             {as_merchant} -X POST {merchant}/webhook-endpoints/{endpoint_id}/test\n\
             {as_operator} -d '{checkout}' {operator}/merchants/{merchant_id}/test/checkouts\n\n\
             Produce any event, or have the events sent to your own receiver (`listen` prints its signing secret):\n\n\
             {program} trigger order.shipped --url {merchant_url}\n\
             {program} listen --forward-to http://127.0.0.1:3000/webhooks --url {merchant_url}\n\n\
             The console and the portal of the merchant, signed in; each address works once:\n\n\
             {console}{portal}\n\n\
             The APIs are described at {merchant_url}/docs and {operator_url}/docs.\n\
             The signing secret of the built-in receiver is `endpoint.secret` in {kept}.\n\n\
             Staying up; what arrives is shown here. Ctrl-C stops.\n\n",
            key = demo.merchant.key(),
            operator_key = demo.operator.key(),
            merchant_url = format_args!("http://{}", stage.service.merchant_address),
            operator_url = format_args!("http://{}", stage.service.operator_address),
        ))?)
    }

    fn text(&mut self, text: &str) -> io::Result<()> {
        if self.json {
            return Ok(());
        }
        self.process.stdout.write_all(text.as_bytes())?;
        self.process.stdout.flush()
    }
}

/// This program as a shell finds it: a demo usually runs from a build directory that is not in the `PATH`.
fn program() -> String {
    let path = std::env::current_exe().ok().and_then(|path| path.into_os_string().into_string().ok());
    path.filter(|path| is_plain(path)).unwrap_or_else(|| "authority".to_owned())
}

/// A path as one word of a shell.
fn word(path: &str) -> String {
    if is_plain(path) { path.to_owned() } else { format!("'{}'", path.replace('\'', r"'\''")) }
}

/// Whether a shell takes it as it is.
fn is_plain(path: &str) -> bool {
    path.chars().all(|c| c.is_ascii_alphanumeric() || "/._-+".contains(c))
}
