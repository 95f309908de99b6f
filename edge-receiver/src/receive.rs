//! One delivery from its head to its answer; the order of the steps is told at the top of the crate.

use futures_util::StreamExt as _;
use verify_core::catalog::EventType;
use verify_core::code::VerificationCode;
use verify_core::header;
use verify_core::receiver::{BODY_LIMIT, Claimed, Head, Verdict, admit, declared_length};
use verify_core::verify::Headers;
use worker::{Context, Env, Request, console_error, console_log};

use crate::answer::Answer;
use crate::{clock, configuration, intake};

/// Judges a delivery, and takes its event in when it verifies.
pub(crate) async fn receive(request: Request, env: &Env, context: &Context) -> Answer {
    match judge(request, env, context).await {
        Ok(claimed) => Answer::Verdict(claimed.verdict()),
        Err(answer) => answer,
    }
}

async fn judge(mut request: Request, env: &Env, context: &Context) -> Result<Claimed, Answer> {
    let declared_length = declared_length(
        line(&request, "content-length").as_deref(),
        line(&request, "transfer-encoding").as_deref(),
    );
    admit(&Head {
        method: request.method().as_ref(),
        content_type: line(&request, "content-type").as_deref(),
        content_encoding: line(&request, "content-encoding").as_deref(),
        declared_length,
    })
    .map_err(Answer::Verdict)?;
    let verifier = configuration::verifier(env).map_err(|configuration::InvalidVariable(name)| {
        console_error!("the value of {name} cannot be used");
        Answer::InvalidConfiguration
    })?;
    let body = read(&mut request, declared_length).await?;
    let (timestamp, signature, event_id) = (
        normalised(&request, header::TIMESTAMP),
        normalised(&request, header::SIGNATURE),
        normalised(&request, header::EVENT_ID),
    );
    let headers = Headers {
        timestamp: timestamp.as_deref(),
        signature: signature.as_deref(),
        event_id: event_id.as_deref(),
    };
    let now_ms = clock::now_ms(env);
    let envelope = verifier.verify(body.as_deref(), &headers, now_ms.div_euclid(1000)).map_err(|code| {
        if code == VerificationCode::InvalidSecret {
            console_error!("no signing secret is set, or one of them is unusable");
        }
        Answer::Verdict(Verdict::Rejected(code))
    })?;
    if EventType::parse(&envelope.event_type).is_none() {
        console_log!("event {} has a type that is not in the catalog: {}", envelope.id, envelope.event_type);
    }
    intake::accept(env, context, &envelope, now_ms).await
}

/// Reads the body once, and never more than [`BODY_LIMIT`] bytes of it. One whose size is declared is taken in
/// one piece, which is cheapest; without a declaration it is taken chunk by chunk. A body that breaks off counts
/// as missing: there is nobody left to read the answer.
async fn read(request: &mut Request, declared_length: Option<u64>) -> Result<Option<Vec<u8>>, Answer> {
    const TOO_LARGE: Answer = Answer::Verdict(Verdict::TooLarge);
    if declared_length.is_some() {
        return match request.bytes().await {
            Ok(body) if body.len() > BODY_LIMIT => Err(TOO_LARGE),
            Ok(body) => Ok(Some(body)),
            Err(_) => Ok(None),
        };
    }
    let Ok(mut chunks) = request.stream() else {
        return Ok(None);
    };
    let mut body = Vec::new();
    while let Some(chunk) = chunks.next().await {
        let Ok(chunk) = chunk else {
            return Ok(None);
        };
        if body.len() + chunk.len() > BODY_LIMIT {
            return Err(TOO_LARGE);
        }
        body.extend_from_slice(&chunk);
    }
    Ok(Some(body))
}

/// The value of a header as contract 10.1 wants it. `Headers.get` of the runtime joins the lines of one name
/// with `", "`; the outer blanks are taken off by the core.
fn normalised(request: &Request, name: &str) -> Option<Vec<u8>> {
    header::join_lines(line(request, name).iter().map(String::as_bytes))
}

fn line(request: &Request, name: &str) -> Option<String> {
    request.headers().get(name).ok().flatten()
}
