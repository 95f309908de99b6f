//! `authority verify --vectors`: runs a file of verification cases (contract 10.8) and counts the results.
//!
//! Each case has its inputs and the expected answer; it passes when the core gives exactly that answer. Standard error
//! gets the names of failed cases. The file's secrets are never shown, even though they are test data.

use std::path::Path;

use base64::prelude::{BASE64_STANDARD, Engine as _};
use serde::Deserialize;
use verify_core::{Headers, Tolerance, VerificationCode, Verifier};

use super::{Exit, Failure, Process};

#[derive(Deserialize)]
struct VectorFile {
    cases: Vec<Case>,
}

/// One case; `None` is an absent body or header.
#[derive(Deserialize)]
struct Case {
    name: String,
    expect: String,
    body_base64: Option<String>,
    timestamp: Option<String>,
    signature: Option<String>,
    event_id: Option<String>,
    secrets: Vec<String>,
    now: i64,
    tolerance: i64,
}

pub(super) fn run(file: &Path, json: bool, process: &mut Process<'_>) -> Result<Exit, Failure> {
    let cases = read(file)?;
    let mut failed = 0_usize;
    for case in &cases {
        let answer = case.answer()?;
        if answer != case.expect {
            failed += 1;
            writeln!(process.stderr, "{}: expected {}, got {answer}", case.name, case.expect)?;
        }
    }
    let passed = cases.len() - failed;
    if json {
        writeln!(process.stdout, "{}", serde_json::json!({ "passed": passed, "failed": failed }))?;
    } else {
        writeln!(process.stdout, "{passed} passed, {failed} failed")?;
    }
    Ok(if failed == 0 { Exit::Done } else { Exit::Failed })
}

/// Reads the cases. A file without cases is refused: it would pass whatever the core does.
fn read(file: &Path) -> Result<Vec<Case>, Failure> {
    let usage = |problem: String| Failure::Usage(format!("--vectors {problem}"));
    let text = std::fs::read(file).map_err(|error| usage(format!("cannot be read: {error}")))?;
    // The parser's message could repeat a part of the file.
    let file: VectorFile = serde_json::from_slice(&text).map_err(|error| {
        usage(format!("is not a vector file (line {}, column {})", error.line(), error.column()))
    })?;
    if file.cases.is_empty() {
        return Err(usage("holds no case".to_owned()));
    }
    Ok(file.cases)
}

impl Case {
    fn answer(&self) -> Result<&'static str, Failure> {
        let unusable = |what: &str| Failure::Usage(format!("--vectors case \"{}\" has {what}", self.name));
        let body = self.body_base64.as_ref().map(|text| BASE64_STANDARD.decode(text)).transpose();
        let body = body.map_err(|_| unusable("a body that is not base64"))?;
        let tolerance =
            Tolerance::new(self.tolerance).map_err(|_| unusable("a tolerance outside 1 to 3600"))?;
        let verifier = Verifier::new(&self.secrets, tolerance).map_err(|_| unusable("too many secrets"))?;
        let headers = Headers {
            timestamp: self.timestamp.as_deref().map(str::as_bytes),
            signature: self.signature.as_deref().map(str::as_bytes),
            event_id: self.event_id.as_deref().map(str::as_bytes),
        };
        let verdict = verifier.verify(body.as_deref(), &headers, self.now);
        Ok(verdict.map_or_else(VerificationCode::as_str, |_| "ok"))
    }
}
