//! Everything that arrived was committed before, is the event's own bytes, came to where the endpoint was at that time
//! and is signed with what it had for secrets.

use std::collections::HashMap;

use verify_core::{Secret, sign};

use super::{Case, Findings, READ_BEFORE_MS};
use crate::history::{Era, Standing};
use crate::receiver::Arrival;

pub(super) fn check(case: &Case<'_>, findings: &mut Findings) {
    let mut secrets = HashMap::new();
    let all = case.evidence.histories.iter().flat_map(|history| &history.eras);
    for text in all.flat_map(|era| &era.state.secrets) {
        secrets.entry(text.as_str()).or_insert_with(|| Secret::parse(text).expect("a secret of an answer"));
    }
    for (event, body) in &case.evidence.record.bodies {
        if case.events.get(event.as_str()).is_none_or(|row| row.body.as_bytes() != body) {
            findings.wrong(format_args!("{event} arrived with other bytes than are stored"));
        }
    }
    for arrival in &case.evidence.record.arrivals {
        if let Err(what) = check_one(case, arrival, &secrets) {
            findings.wrong(format_args!("{what}: {arrival:?}"));
        }
    }
}

fn check_one(
    case: &Case<'_>,
    arrival: &Arrival,
    secrets: &HashMap<&str, Secret>,
) -> Result<(), &'static str> {
    let row = case.deliveries.get(arrival.delivery.as_str()).ok_or("sent, and never committed")?;
    if row.event_id != arrival.event || arrival.other_body.is_some() {
        return Err("not the delivery's event");
    }
    // The outcome of the last one may not have been written, when it was cancelled meanwhile.
    let most = row.attempt_count + i64::from(!matches!(row.status.as_str(), "succeeded" | "failed"));
    if !(1..=most).contains(&arrival.attempt) {
        return Err("a number that no attempt has");
    }
    let began = arrival.timestamp * 1000;
    if !(began..began + READ_BEFORE_MS).contains(&arrival.at) {
        return Err("signed at another time");
    }
    let history = case.histories.get(row.endpoint_id.as_str()).ok_or("an unknown endpoint")?;
    let possible: Vec<&Era> =
        history.possible(began - READ_BEFORE_MS, arrival.at).into_iter().flatten().collect();
    if !possible.iter().any(|era| era.state.path == arrival.path) {
        return Err("to where the endpoint was not");
    }
    if !possible.iter().any(|era| era.state.standing == Standing::Enabled) {
        return Err("to an endpoint that gets nothing");
    }
    let body = case.evidence.record.bodies.get(&arrival.event).ok_or("without a body")?;
    let timestamp = arrival.timestamp.to_string();
    let signed = possible.iter().any(|era| {
        let own = era.state.secrets.iter().map(|text| &secrets[text.as_str()]);
        sign::signature_header(own, &timestamp, body) == arrival.signature
    });
    if signed { Ok(()) } else { Err("signed with other secrets") }
}
