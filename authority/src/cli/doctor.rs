//! `authority doctor`: checks that machine, configuration and database fit together, and that the stored data follows
//! the rules (contract 6.4, 12 T7).
//!
//! The command is read-only: it creates, migrates and writes nothing, and may run beside a service at any time. If an
//! earlier check failed, the checks that depend on it are reported as skipped. A warning does not fail the command; a
//! failed check or a finding does (exit code 1).

use std::sync::Arc;

use authority_domain::Timestamp;
use authority_store::{Inspection, StoreError};
use serde::Serialize;

use super::serve::block_on;
use super::style::{Tone, cell};
use super::{Exit, Failure, Process, args};
use crate::app::invariants::{AuditReport, audit};
use crate::app::sealed::{SealedCount, count_sealed};
use crate::clock::Clock;
use crate::config::Config;
use crate::dispatch::root_count;
use crate::secret_box::SecretBox;

/// How far this machine's clock may be from the database's (contract T7); receivers refuse at 300 s.
const CLOCK_TOLERANCE_MS: i64 = 2_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Verdict {
    Ok,
    Warning,
    Failed,
    Skipped,
}

impl Verdict {
    fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warning => "warning",
            Self::Failed => "failed",
            Self::Skipped => "skipped",
        }
    }
}

/// One line of the report.
#[derive(Clone, Debug, Serialize)]
struct Check {
    name: &'static str,
    status: Verdict,
    detail: String,
}

impl Check {
    fn new(name: &'static str, status: Verdict, detail: impl Into<String>) -> Self {
        Self { name, status, detail: detail.into() }
    }
}

#[derive(Serialize)]
struct Report {
    ok: bool,
    checks: Vec<Check>,
    #[serde(flatten)]
    audit: AuditReport,
}

/// Runs the checks and prints the report. Exits with 1 if something is wrong.
pub(super) fn run(doctor: &args::Doctor, process: &mut Process<'_>) -> Result<Exit, Failure> {
    let config = Config::read(process.environment)?;
    let secrets = Arc::new(config.keys.secret_box());
    let clock = process.clock;
    let report = block_on(async {
        let mut checks = Vec::new();
        let audit = match Inspection::open(config.database_url.store_url()).await {
            Ok(mut inspection) => {
                let audit = examine(&mut inspection, secrets, clock, &mut checks).await;
                inspection.close().await;
                audit
            }
            Err(error) => {
                let detail = format!("{}: {error}", config.database_url);
                checks.push(Check::new("database", Verdict::Failed, detail));
                skip(&mut checks, &["keys", "audit", "clock"]);
                AuditReport::default()
            }
        };
        checks.push(tls());
        let ok = !checks.iter().any(|check| check.status == Verdict::Failed);
        Ok(Report { ok, checks, audit })
    })?;
    print(&report, doctor.json, process)?;
    Ok(if report.ok { Exit::Done } else { Exit::Failed })
}

fn skip(checks: &mut Vec<Check>, names: &[&'static str]) {
    checks.extend(names.iter().map(|name| Check::new(name, Verdict::Skipped, "not looked at")));
}

/// Runs the checks that need the database.
async fn examine(
    inspection: &mut Inspection,
    secrets: Arc<SecretBox>,
    clock: &dyn Clock,
    checks: &mut Vec<Check>,
) -> AuditReport {
    let (found, known) = (inspection.schema_found, inspection.schema_known);
    if !inspection.schema_fits {
        let detail = match found {
            0 => "there is no schema: run `authority migrate`".to_owned(),
            found if found < known => {
                format!("schema version {found}, this program needs {known}: run `authority migrate`")
            }
            found => format!("schema version {found} is newer than the {known} this program knows"),
        };
        checks.push(Check::new("database", Verdict::Failed, detail));
        skip(checks, &["keys", "audit"]);
        checks.push(clocks(inspection, clock, None).await);
        return AuditReport::default();
    }
    let newer =
        if found > known { format!(", which adds to the {known} this program knows") } else { String::new() };
    checks.push(Check::new("database", Verdict::Ok, format!("answers, schema version {found}{newer}")));
    let sealed: Result<_, StoreError> =
        inspection.snapshot(move |tx| Box::pin(async move { count_sealed(tx, &secrets).await })).await;
    checks.push(keys(sealed));
    let audited = audit(inspection).await;
    checks.push(audit_check(&audited));
    let newest = audited.as_ref().ok().and_then(|report| report.newest);
    checks.push(clocks(inspection, clock, newest).await);
    audited.unwrap_or_default()
}

/// Checks that the configured keys open every sealed secret.
fn keys(sealed: Result<SealedCount, StoreError>) -> Check {
    let check = |status, detail: String| Check::new("keys", status, detail);
    match sealed {
        Err(error) => check(Verdict::Failed, error.to_string()),
        Ok(SealedCount { unopened, current, previous }) if unopened > 0 => {
            let all = unopened + current + previous;
            check(
                Verdict::Failed,
                format!("{unopened} of {all} sealed values do not open with the configured keys"),
            )
        }
        Ok(SealedCount { previous, .. }) if previous > 0 => check(
            Verdict::Warning,
            format!(
                "{previous} sealed values are still under the previous key: run `authority secrets rewrap`"
            ),
        ),
        Ok(SealedCount { current: 0, .. }) => check(Verdict::Ok, "nothing is sealed yet".to_owned()),
        Ok(SealedCount { current, .. }) => {
            check(Verdict::Ok, format!("all {current} sealed values open with the current key"))
        }
    }
}

fn audit_check(audited: &Result<AuditReport, StoreError>) -> Check {
    match audited {
        Err(error) => Check::new("audit", Verdict::Failed, error.to_string()),
        Ok(report) => {
            let AuditReport { streams, events, records, findings_total, .. } = report;
            let status = if *findings_total == 0 { Verdict::Ok } else { Verdict::Failed };
            let detail =
                format!("{findings_total} findings in {streams} streams, {events} events, {records} records");
            Check::new("audit", status, detail)
        }
    }
}

/// Compares this machine's clock with the database's, and with the time of the newest event.
async fn clocks(inspection: &mut Inspection, clock: &dyn Clock, newest: Option<Timestamp>) -> Check {
    let before = clock.now_ms();
    let theirs = inspection.clock_ms().await;
    let after = clock.now_ms();
    let far = |theirs: i64| theirs < before - CLOCK_TOLERANCE_MS || theirs > after + CLOCK_TOLERANCE_MS;
    let check = |status, detail: String| Check::new("clock", status, detail);
    let seconds = |ms: i64| format!("{}.{:03} s", ms.abs() / 1000, ms.abs() % 1000);
    let detail = match theirs {
        Err(error) => return check(Verdict::Failed, error.to_string()),
        Ok(Some(theirs)) if far(theirs) => {
            let direction = if theirs > after { "behind" } else { "ahead of" };
            let by = seconds(theirs - after);
            return check(Verdict::Warning, format!("this clock is {by} {direction} the database's"));
        }
        Ok(Some(theirs)) => format!("within {} of the database's", seconds(theirs - after)),
        Ok(None) => "the database has no clock of its own".to_owned(),
    };
    match newest.map(|newest| newest.as_ms() - after) {
        Some(ahead) if ahead > CLOCK_TOLERANCE_MS => {
            let detail = format!("this clock is {} behind the newest event; {detail}", seconds(ahead));
            check(Verdict::Warning, detail)
        }
        _ => check(Verdict::Ok, detail),
    }
}

/// Checks that there are root certificates to verify receivers with.
fn tls() -> Check {
    let (built_in, system) = root_count();
    let status = if built_in + system > 0 { Verdict::Ok } else { Verdict::Failed };
    Check::new("tls", status, format!("{built_in} roots built in, {system} of the operating system"))
}

fn print(report: &Report, json: bool, process: &mut Process<'_>) -> Result<(), Failure> {
    if json {
        process.json(report)?;
    } else {
        for Check { name, status, detail } in &report.checks {
            let status = cell(status.as_str(), 9, Tone::of(status.as_str()), process.colour);
            writeln!(process.stdout, "{name:<10}{status}{detail}")?;
        }
        for located in &report.audit.findings {
            let merchant = located.merchant_id.as_ref().map_or("-", |id| id.as_str());
            let mode = located.livemode.map_or("-", |live| if live { "live" } else { "test" });
            let finding = &located.finding;
            let (code, record, detail) = (finding.code, &finding.record, &finding.detail);
            writeln!(process.stdout, "{} {code} {merchant} {mode} {record}: {detail}", located.invariant)?;
        }
    }
    process.stdout.flush()?;
    Ok(())
}
