//! PHP 8.1 or newer, with its own HTTP streams, which need no extension.

use anyhow::Result;

use super::literal::{self, Notation};
use super::{Request, URL};

const NOTATION: Notation = Notation {
    object: ("[", "]"),
    name: |name| Ok(format!("{} => ", literal::quoted_without_variables(name)?)),
    text: literal::quoted_without_variables,
    words: ["null", "true", "false"],
    step: 4,
    last: ",",
};

pub(super) fn written(request: &Request) -> Result<String> {
    let mut headers = Vec::new();
    if let Some(key) = request.key {
        headers.push(format!("\"Authorization: Bearer \" . getenv(\"{key}\")"));
    }
    headers.extend(request.headers.iter().map(|(name, value)| format!("\"{name}: {value}\"")));
    let mut options = vec![format!("\"method\" => \"{}\"", request.method)];
    if !headers.is_empty() {
        let lines: String = headers.iter().map(|header| format!("        {header},\n")).collect();
        options.push(format!("\"header\" => [\n{lines}    ]"));
    }
    if let Some(body) = request.body(&NOTATION, 4)? {
        options.push(format!("\"content\" => json_encode({body})"));
    }
    options.push("\"ignore_errors\" => true".to_owned());
    let options: String = options.iter().map(|option| format!("    {option},\n")).collect();
    Ok(format!(
        "<?php\n\
         $context = stream_context_create([\"http\" => [\n{options}]]);\n\
         $url = getenv(\"{URL}\") ?: \"{}\";\n\
         $stream = fopen(\"$url{}\", \"r\", false, $context) or exit(1);\n\
         $status = stream_get_meta_data($stream)[\"wrapper_data\"][0];\n\
         $answer = stream_get_contents($stream);\n\
         if (!preg_match(\"/^HTTP\\S+ 2/\", $status)) {{\n    \
           fwrite(STDERR, \"$status\\n$answer\\n\");\n    \
           exit(1);\n\
         }}\n\
         echo $answer, \"\\n\";\n",
        request.default_url, request.path
    ))
}
