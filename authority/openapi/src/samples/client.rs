//! The package's client, on Node. It makes the idempotency key by itself.

use anyhow::{Context as _, Result};

use super::literal::{self, Notation};
use super::{Request, URL};

const NOTATION: Notation = Notation {
    object: ("{ ", " }"),
    name: |name| {
        let is_plain = name.bytes().all(|letter| letter.is_ascii_alphanumeric() || letter == b'_');
        Ok(if is_plain { format!("{name}: ") } else { format!("{}: ", literal::quoted(name)?) })
    },
    text: literal::quoted,
    words: ["null", "true", "false"],
    step: 2,
    last: ",",
};

pub(super) fn written(request: &Request) -> Result<Option<String>> {
    let Some(operation) = &request.call else { return Ok(None) };
    let key = request.key.context("a client has a key")?;
    let mut given: Vec<String> = operation.placeholders().iter().map(|id| format!("\"{id}\"")).collect();
    given.extend(request.body(&NOTATION, 0)?);
    let call = format!("client.{}({})", operation.name(), given.join(", "));
    let shown = if operation.is_list() {
        format!("for await (const item of {call}) console.log(JSON.stringify(item));")
    } else {
        format!("const answer = await {call};\nconsole.log(JSON.stringify(answer));")
    };
    Ok(Some(format!(
        "import {{ Client }} from \"verify-wasm/client\";\n\n\
         const client = new Client({{\n  \
           apiKey: process.env.{key},\n  \
           baseUrl: process.env.{URL} ?? \"{}\",\n\
         }});\n{shown}\n",
        request.default_url
    )))
}
