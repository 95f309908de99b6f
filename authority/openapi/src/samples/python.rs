//! Python 3.8 or newer, with `urllib`.

use anyhow::Result;

use super::literal::{self, Notation};
use super::{Request, URL};

const NOTATION: Notation = Notation {
    object: ("{", "}"),
    name: |name| Ok(format!("{}: ", literal::quoted(name)?)),
    text: literal::quoted,
    words: ["None", "True", "False"],
    step: 4,
    last: ",",
};

pub(super) fn written(request: &Request) -> Result<String> {
    let body = request.body(&NOTATION, 4)?;
    let json = if body.is_some() { "import json\n" } else { "" };
    let mut text = format!(
        "{json}import os\nimport sys\nimport urllib.error\nimport urllib.request\n\n\
         request = urllib.request.Request(\n    \
           os.environ.get(\"{URL}\", \"{}\")\n    + \"{}\",\n",
        request.default_url, request.path
    );
    if !request.is_read() {
        text.push_str(&format!("    method=\"{}\",\n", request.method));
    }
    if let Some(key) = request.key {
        text.push_str(&format!(
            "    headers={{\n        \"Authorization\": \"Bearer \" + os.environ[\"{key}\"],\n"
        ));
        for (name, value) in &request.headers {
            text.push_str(&format!("        \"{name}\": \"{value}\",\n"));
        }
        text.push_str("    },\n");
    }
    if let Some(body) = body {
        text.push_str(&format!("    data=json.dumps({body}).encode(),\n"));
    }
    text.push_str(
        ")\ntry:\n    \
           with urllib.request.urlopen(request, timeout=30) as response:\n        \
             print(response.read().decode())\n\
         except urllib.error.HTTPError as error:\n    \
           sys.exit(f\"{error.code} {error.read().decode()}\")\n",
    );
    Ok(text)
}
