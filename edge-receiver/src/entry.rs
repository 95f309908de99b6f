//! Where the runtime calls in with a request: a delivery, or somebody who looks after the receiver.

use verify_core::Profile;
use worker::wasm_bindgen::prelude::wasm_bindgen;
use worker::wasm_bindgen::{self, JsValue};
use worker::worker_sys::Context;
use worker::{Env, console_error, web_sys};

use crate::admin::Route;
use crate::answer::Answer;
use crate::configuration::InvalidVariable;
use crate::driven::{Driven, Step};
use crate::receive::{Delivery, receive};
use crate::{head, look_inside, runtime, settings};

/// A request on its way to its response. JavaScript drives it.
#[wasm_bindgen(wasm_bindgen = worker::wasm_bindgen)]
pub struct Exchange {
    work: Driven<web_sys::Response>,
}

#[wasm_bindgen(wasm_bindgen = worker::wasm_bindgen)]
impl Exchange {
    /// Takes a request on. Nothing happens before [`Exchange::resume`].
    #[wasm_bindgen(constructor)]
    pub fn new(request: web_sys::Request, env: Env, context: Context) -> Self {
        Self { work: Driven::new(async move { respond(&request, &env, &context).await }) }
    }

    /// Goes on, to the promise that has to be waited for next, or to the response; `undefined` when it was at its end
    /// before. `is_fulfilled` and `value` are what became of the promise before.
    pub fn resume(&self, is_fulfilled: bool, value: JsValue) -> JsValue {
        match self.work.resume(if is_fulfilled { Ok(value) } else { Err(value) }) {
            Step::Wait(promise) => promise.into(),
            Step::Done(response) => response.into(),
            Step::Stuck => JsValue::UNDEFINED,
        }
    }
}

async fn respond(request: &web_sys::Request, env: &Env, context: &Context) -> web_sys::Response {
    let settings = settings::settings(env);
    let text = runtime::head(request, settings.profile == Profile::StandardWebhooks);
    let head = head::read(&text);
    if let Some(route) = Route::of(head.path) {
        let told = look_inside::answer(&head, env, route).await;
        let (name, value) = told.header.unzip();
        return runtime::respond(told.status, &told.body, true, name, value);
    }
    let answer = take(&Delivery { request, head, settings: &settings, env, context }).await;
    let allow = answer.allow();
    runtime::respond(answer.status(), &answer.body(), false, allow.map(|_| "allow"), allow)
}

async fn take(delivery: &Delivery<'_>) -> Answer {
    match &delivery.settings.path {
        Ok(path) if delivery.head.path == path => receive(delivery).await,
        Ok(_) => Answer::NotFound,
        Err(InvalidVariable(name)) => {
            console_error!("the value of {name} cannot be used");
            Answer::InvalidConfiguration
        }
    }
}
