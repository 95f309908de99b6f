//! curl 7.76 or newer, in a POSIX shell.

use anyhow::Result;

use super::{Request, URL, literal};

pub(super) fn written(request: &Request) -> Result<String> {
    let method = if request.is_read() { String::new() } else { format!(" -X {}", request.method) };
    let mut lines = vec![
        format!("curl --fail-with-body -sS{method}"),
        format!("\"${{{URL}:-{}}}{}\"", request.default_url, request.path),
    ];
    if let Some(key) = request.key {
        lines.push(format!("-H \"Authorization: Bearer ${key}\""));
    }
    lines.extend(request.headers.iter().map(|(name, value)| format!("-H \"{name}: {value}\"")));
    if let Some(body) = request.body(&literal::JSON, 2)? {
        lines.push(format!("-d '{}'", body.replace('\'', r"'\''")));
    }
    Ok(lines.join(" \\\n  ") + "\n")
}
