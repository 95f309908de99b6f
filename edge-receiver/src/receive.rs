//! One delivery from its head to its answer; the order of the steps is told at the top of the crate.

use verify_core::catalog::EventType;
use verify_core::code::VerificationCode;
use verify_core::header;
use verify_core::receiver::{BODY_LIMIT, Claimed, Head, Verdict, admit, declared_length};
use verify_core::verify::Headers;
use worker::worker_sys::Context;
use worker::{Env, console_error, console_log, web_sys};

use crate::answer::Answer;
use crate::configuration::InvalidVariable;
use crate::head::RequestHead;
use crate::runtime::{self, Body};
use crate::settings::Settings;
use crate::{clock, intake};

/// A delivery that has come.
pub(crate) struct Delivery<'d> {
    pub(crate) request: &'d web_sys::Request,
    pub(crate) head: RequestHead<'d>,
    pub(crate) settings: &'d Settings,
    pub(crate) env: &'d Env,
    pub(crate) context: &'d Context,
}

/// Judges a delivery, and takes its event in when it verifies.
pub(crate) async fn receive(delivery: &Delivery<'_>) -> Answer {
    match judge(delivery).await {
        Ok(claimed) => Answer::Verdict(claimed.verdict()),
        Err(answer) => answer,
    }
}

async fn judge(delivery: &Delivery<'_>) -> Result<Claimed, Answer> {
    let head = &delivery.head;
    let declared_length = declared_length(head.content_length, head.transfer_encoding);
    admit(&Head {
        method: head.method,
        content_type: head.content_type,
        content_encoding: head.content_encoding,
        declared_length,
    })
    .map_err(Answer::Verdict)?;
    let verifier = delivery.settings.verifier.as_ref().map_err(|InvalidVariable(name)| {
        console_error!("the value of {name} cannot be used");
        Answer::InvalidConfiguration
    })?;
    let body = read(delivery.request, declared_length).await?;
    let (timestamp, signature, event_id) =
        (normalised(head.timestamp), normalised(head.signature), normalised(head.event_id));
    let headers = Headers {
        timestamp: timestamp.as_deref(),
        signature: signature.as_deref(),
        event_id: event_id.as_deref(),
    };
    let now_ms = delivery.settings.fixed_ms.unwrap_or_else(clock::runtime_ms);
    let envelope = verifier.verify(body.as_deref(), &headers, now_ms.div_euclid(1000)).map_err(|code| {
        if code == VerificationCode::InvalidSecret {
            console_error!("no signing secret is set, or one of them is unusable");
        }
        Answer::Verdict(Verdict::Rejected(code))
    })?;
    if EventType::parse(&envelope.event_type).is_none() {
        console_log!("event {} has a type that is not in the catalog: {}", envelope.id, envelope.event_type);
    }
    intake::accept(delivery, &envelope, now_ms).await
}

/// Reads the body once, and never more than [`BODY_LIMIT`] bytes of it. One whose size is declared is taken in
/// one piece, which is cheapest; without a declaration it is taken chunk by chunk. A body that breaks off counts
/// as missing: there is nobody left to read the answer.
async fn read(request: &web_sys::Request, declared_length: Option<u64>) -> Result<Option<Vec<u8>>, Answer> {
    let body = match declared_length {
        Some(_) => runtime::read_whole(request).await,
        None => runtime::read(request, BODY_LIMIT).await,
    };
    match body {
        Body::Whole(body) if body.len() <= BODY_LIMIT => Ok(Some(body)),
        Body::Whole(_) | Body::TooLong => Err(Answer::Verdict(Verdict::TooLarge)),
        Body::Missing | Body::Broken => Ok(None),
    }
}

/// The value of a header as contract 10.1 wants it. `Headers.get` of the runtime joins the lines of one name
/// with `", "`; the outer blanks are taken off by the core.
fn normalised(value: Option<&str>) -> Option<Vec<u8>> {
    header::join_lines(value.iter().map(|value| value.as_bytes()))
}
