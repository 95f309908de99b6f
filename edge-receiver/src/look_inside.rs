//! Answers those who look after the receiver; what there is, and who may ask, is told in [`crate::admin`].

use verify_core::receiver::Verdict;
use worker::{Env, Result, console_error};

use crate::admin::{self, ADMIN_TOKEN, Access, Route};
use crate::answer::Answer;
use crate::configuration::{Dedup, InvalidVariable};
use crate::head::RequestHead;
use crate::inbox::operation::Retried;
use crate::inbox::{self, stored::Summary};
use crate::reconciliation::{self, Command};
use crate::settings;

/// What is said to somebody.
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) body: String,
    pub(crate) header: Option<(&'static str, &'static str)>,
}

/// Answers a request for `route`.
pub(crate) async fn answer(head: &RequestHead<'_>, env: &Env, route: Route<'_>) -> Reply {
    tell(head, env, route).await.unwrap_or_else(|error| {
        console_error!("nothing could be looked at: {error}");
        Reply::code(Answer::Verdict(Verdict::StorageUnavailable))
    })
}

impl Reply {
    fn code(answer: Answer) -> Self {
        Self { status: answer.status(), body: answer.body().into_owned(), header: None }
    }

    fn new(status: u16, body: impl Into<String>) -> Self {
        Self { status, body: body.into(), header: None }
    }
}

async fn tell(head: &RequestHead<'_>, env: &Env, route: Route<'_>) -> Result<Reply> {
    let access = settings::variable(env, ADMIN_TOKEN)
        .and_then(|token| admin::access(token.as_deref(), head.authorization));
    match access {
        Ok(Access::Granted) => {}
        Ok(Access::Refused) => {
            let header = Some(("www-authenticate", "Bearer realm=\"edge-receiver\""));
            return Ok(Reply { status: 401, body: r#"{"code":"unauthorized"}"#.into(), header });
        }
        Ok(Access::Off) => return Ok(Reply::code(Answer::NotFound)),
        Err(variable) => return Ok(unusable(variable)),
    }
    if head.method != route.method() {
        let refused = Reply::code(Answer::Verdict(Verdict::MethodNotAllowed));
        return Ok(Reply { header: Some(("allow", route.method())), ..refused });
    }
    let has_inbox = match settings::dedup(env) {
        Ok(decides) => decides == Dedup::Inbox,
        Err(variable) => return Ok(unusable(variable)),
    };
    match route {
        Route::Health => health(env, has_inbox).await,
        Route::Event(_) | Route::Retry(_) if !has_inbox => Ok(Reply::code(Answer::NotFound)),
        Route::Event(id) => Ok(match inbox::look_up(env, id).await? {
            Some(record) => Reply::new(200, record),
            None => Reply::code(Answer::NotFound),
        }),
        Route::Retry(id) => Ok(match inbox::retry(env, id).await? {
            Retried::Scheduled => Reply::new(202, r#"{"code":"scheduled"}"#),
            Retried::AlreadyProcessed => Reply::new(409, r#"{"code":"already_processed"}"#),
            Retried::Unknown => Reply::code(Answer::NotFound),
        }),
        Route::Reconcile => Ok(Reply::new(200, reconciliation::tell(env, Command::Run).await?)),
        Route::Restart => Ok(Reply::new(200, reconciliation::tell(env, Command::Restart).await?)),
    }
}

/// Events are `null` where KV alone decides, reconciliation where it is off.
async fn health(env: &Env, has_inbox: bool) -> Result<Reply> {
    let events = if has_inbox { events(&inbox::summary(env).await?) } else { "null".to_owned() };
    let reconciliation = match reconciliation::configured(env) {
        Ok(None) => "null".to_owned(),
        _ => reconciliation::tell(env, Command::Show).await?,
    };
    Ok(Reply::new(200, format!(r#"{{"events":{events},"reconciliation":{reconciliation}}}"#)))
}

fn events(summary: &Summary) -> String {
    let Summary { received, processing, processed, error, oldest_unprocessed_ms } = summary;
    let oldest = oldest_unprocessed_ms.map_or("null".to_owned(), |at| at.to_string());
    format!(
        r#"{{"received":{received},"processing":{processing},"processed":{processed},"error":{error},"oldest_unprocessed_ms":{oldest}}}"#
    )
}

fn unusable(InvalidVariable(name): InvalidVariable) -> Reply {
    console_error!("the value of {name} cannot be used");
    Reply::code(Answer::InvalidConfiguration)
}
