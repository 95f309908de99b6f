//! A class per error code, so that a `catch` can branch with `instanceof`.

use anyhow::{Context as _, Result};
use authority_domain::ErrorCode;
use authority_schema::typescript::{capitalised, comment};
use serde_json::Value;

use super::{GENERATED, definition};

/// `error-classes.ts`.
pub(super) fn file(document: &Value) -> Result<String> {
    let codes = definition(document, "Problem")?["properties"]["code"]["enum"]
        .as_array()
        .context("the codes of problems")?
        .iter()
        .filter_map(Value::as_str)
        .map(|text| {
            let code = ErrorCode::ALL.iter().find(|code| code.as_str() == text);
            code.with_context(|| format!("{text} is no error code"))
        })
        .collect::<Result<Vec<_>>>()?;
    let mut text = format!("// A class per error code of the merchant API, {GENERATED}.\n\n");
    text.push_str("import { ApiError, type Refusal } from \"./errors.js\";\n");
    for code in &codes {
        let class = class_of(code.as_str());
        let said = format!("`{}` ({}): {}", code.as_str(), code.status(), code.meaning().trim());
        text.push_str(&format!(
            "\n{}\nexport class {class} extends ApiError<\"{}\"> {{}}\n",
            comment(&said, 0),
            code.as_str()
        ));
    }
    text.push_str("\n/** The class of each code. */\n");
    text.push_str(
        "export const CLASSES: { readonly [code: string]: new (refusal: Refusal<any>) => ApiError } = {\n",
    );
    for code in &codes {
        text.push_str(&format!("  {}: {},\n", code.as_str(), class_of(code.as_str())));
    }
    text.push_str("};\n");
    Ok(text)
}

/// `not_found` is a `NotFoundError`, `internal_error` an `InternalError`.
fn class_of(code: &str) -> String {
    let stem = code.strip_suffix("_error").unwrap_or(code);
    stem.split('_').map(capitalised).collect::<String>() + "Error"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_is_named_after_its_code() {
        assert_eq!(class_of("not_found"), "NotFoundError");
        assert_eq!(class_of("internal_error"), "InternalError");
        assert_eq!(class_of("invalid_json"), "InvalidJsonError");
    }
}
