//! Reads the Worker's variables and secrets.
//!
//! `Env::var` of the worker crate does not tell an absent binding from one of another type. Here the difference
//! matters: absent means the default, a number where a text belongs is a mistake that must be seen.

use worker::Env;
use worker::js_sys::Reflect;
use worker::wasm_bindgen::JsValue;

/// The binding exists and is not a text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct NotText;

/// The text bound to `name`, `None` when there is no such binding.
pub(crate) fn text(env: &Env, name: &str) -> Result<Option<String>, NotText> {
    let value = Reflect::get(env, &JsValue::from_str(name)).map_err(|_| NotText)?;
    if value.is_undefined() {
        return Ok(None);
    }
    value.as_string().map(Some).ok_or(NotText)
}
