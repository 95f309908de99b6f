//! Reads the Worker's variables, secrets and bindings.
//!
//! `Env::var` of the worker crate does not tell an absent binding from one of another type. Here the difference
//! matters: absent means the default, a number where a text belongs is a mistake that must be seen.

use worker::Env;
use worker::js_sys::Reflect;
use worker::wasm_bindgen::JsValue;

/// The binding exists and is not of the type that it must be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct WrongType;

/// The text bound to `name`, `None` when there is no such binding.
pub(crate) fn text(env: &Env, name: &str) -> Result<Option<String>, WrongType> {
    let value = Reflect::get(env, &JsValue::from_str(name)).map_err(|_| WrongType)?;
    if value.is_undefined() {
        return Ok(None);
    }
    value.as_string().map(Some).ok_or(WrongType)
}

/// The object bound to `name`, `None` when there is no such binding.
pub(crate) fn object(env: &Env, name: &str) -> Result<Option<JsValue>, WrongType> {
    let value = Reflect::get(env, &JsValue::from_str(name)).map_err(|_| WrongType)?;
    if value.is_undefined() {
        return Ok(None);
    }
    if value.is_object() { Ok(Some(value)) } else { Err(WrongType) }
}
