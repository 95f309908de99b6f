//! What the sandbox has others say: shorthand, written as a processor or a carrier writes it.

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::body::{Members, Text};
use crate::parts::Failure;
use crate::refusal::MemberCode;

/// What a failure is called when nobody says.
const DECLINED: &str = "card_declined";

/// `failure_code`, which goes with a failure alone.
pub(super) fn told_failure(m: &mut Members<'_>, fails: bool, with: &str) -> Option<Failure> {
    let code = m.string("failure_code", Text::line(1, 64)).optional();
    if code.is_some() && !fails {
        m.refuse("failure_code", MemberCode::Inconsistent, format!("goes with {with} alone"));
    }
    fails.then(|| Failure { code: code.unwrap_or_else(|| DECLINED.to_owned()), message: None })
}

/// A processor's report with this status.
pub(super) fn report(status: &str, failure: Option<&Failure>) -> Map<String, Value> {
    let mut report = Map::from_iter([("status".to_owned(), json!(status))]);
    if let Some(failure) = failure {
        report.insert("failure".into(), told(failure));
    }
    report
}

/// A part of a record as somebody tells it: what is not known is left out.
pub(super) fn told(part: impl Serialize) -> Value {
    let mut told = json!(part);
    if let Value::Object(members) = &mut told {
        members.retain(|_, value| !value.is_null());
    }
    told
}
