//! Ruby 3.0 or newer, with `net/http`.

use anyhow::{Result, bail};

use super::literal::{self, Notation};
use super::{Request, URL};

const NOTATION: Notation = Notation {
    object: ("{ ", " }"),
    name: |name| {
        if name.bytes().any(|letter| !letter.is_ascii_alphanumeric() && letter != b'_') {
            bail!("{name} is no symbol");
        }
        Ok(format!("{name}: "))
    },
    text: literal::quoted_without_variables,
    words: ["nil", "true", "false"],
    step: 2,
    last: "",
};

pub(super) fn written(request: &Request) -> Result<String> {
    let body = request.body(&NOTATION, 0)?;
    let json = if body.is_some() { "require \"json\"\n" } else { "" };
    let (first, rest) = request.method.split_at(1);
    let class = format!("{first}{}", rest.to_ascii_lowercase());
    let mut text = format!(
        "{json}require \"net/http\"\n\n\
         uri = URI(ENV.fetch(\"{URL}\", \"{}\") + \"{}\")\n\
         request = Net::HTTP::{class}.new(uri)\n",
        request.default_url, request.path
    );
    if let Some(key) = request.key {
        text.push_str(&format!("request[\"Authorization\"] = \"Bearer #{{ENV.fetch(\"{key}\")}}\"\n"));
    }
    for (name, value) in &request.headers {
        text.push_str(&format!("request[\"{name}\"] = \"{value}\"\n"));
    }
    if body.is_none() && !request.is_read() && request.method != "DELETE" {
        // Without a type, Ruby sends that of a form, also where there is no body.
        text.push_str("request[\"Content-Type\"] = \"application/json\"\n");
    }
    if let Some(body) = body {
        text.push_str(&format!("request.body = JSON.generate({body})\n"));
    }
    text.push_str(
        "response = Net::HTTP.start(uri.host, uri.port, use_ssl: uri.scheme == \"https\") do |http|\n  \
           http.request(request)\n\
         end\n\
         abort \"#{response.code} #{response.body}\" unless response.is_a?(Net::HTTPSuccess)\n\
         puts response.body\n",
    );
    Ok(text)
}
