//! Calls of the runtime's JavaScript that need no wrapper.
//!
//! The worker crate wraps the bindings with every option that they have, and some of its wrappers unwrap what the
//! runtime may refuse. What is used here is one call each, so it is made by name: a failure is a value, and the module
//! stays small.

use worker::js_sys::{Array, Function, Object, Promise, Reflect};
use worker::wasm_bindgen::{JsCast as _, JsValue};

use crate::driven::settled;

/// Calls `method` of `object` and waits for what it promises.
///
/// # Errors
/// What it throws or rejects with; there may be no such method.
pub(crate) async fn call(object: &JsValue, method: &str, arguments: &[JsValue]) -> Result<JsValue, JsValue> {
    let returned = call_now(object, method, arguments)?;
    match returned.dyn_into::<Promise>() {
        Ok(promise) => settled(promise).await,
        Err(value) => Ok(value),
    }
}

/// Calls `method` of `object` and hands out what it returns, be it a promise.
///
/// # Errors
/// What it throws; there may be no such method.
pub(crate) fn call_now(object: &JsValue, method: &str, arguments: &[JsValue]) -> Result<JsValue, JsValue> {
    let function: Function = Reflect::get(object, &method.into())?.dyn_into()?;
    function.apply(object, &arguments.iter().collect::<Array>())
}

/// An object with these members.
pub(crate) fn object<const N: usize>(members: [(&str, JsValue); N]) -> Result<JsValue, JsValue> {
    let object = Object::new();
    for (name, value) in members {
        Reflect::set(&object, &name.into(), &value)?;
    }
    Ok(object.into())
}
