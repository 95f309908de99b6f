//! Where the runtime calls in: a request, by its path.

use worker::{Context, Env, Request, Response, Result, console_error, event};

use crate::admin::Route;
use crate::answer::Answer;
use crate::configuration::{self, InvalidVariable};
use crate::look_inside;
use crate::receive::receive;

/// A request.
#[event(fetch)]
async fn fetch(request: Request, env: Env, context: Context) -> Result<Response> {
    let path = request.path();
    if let Some(route) = Route::of(&path) {
        return look_inside::answer(&request, &env, route).await;
    }
    let answer = match configuration::webhook_path(&env) {
        Ok(webhook_path) if path == webhook_path => receive(request, &env, &context).await,
        Ok(_) => Answer::NotFound,
        Err(InvalidVariable(name)) => {
            console_error!("the value of {name} cannot be used");
            Answer::InvalidConfiguration
        }
    };
    respond(answer)
}

fn respond(answer: Answer) -> Result<Response> {
    let mut response = Response::builder()
        .with_status(answer.status())
        .with_header("content-type", "application/json")?
        .fixed(answer.body().into_owned().into_bytes());
    if let Some(methods) = answer.allow() {
        response.headers_mut().set("allow", methods)?;
    }
    Ok(response)
}
