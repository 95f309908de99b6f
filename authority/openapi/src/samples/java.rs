//! Java 17 or newer, with `java.net.http`. The standard library has no JSON, so the body is a text.

use anyhow::{Result, bail};

use super::{Request, URL, literal};

pub(super) fn written(request: &Request) -> Result<String> {
    let body = request.body(&literal::JSON, 12)?;
    let (text, publisher) = match body {
        None => (String::new(), "noBody()"),
        Some(body) if body.contains(['\\']) || body.contains("\"\"\"") => bail!("the body needs escapes"),
        Some(body) => (format!("        var body = \"\"\"\n            {body}\"\"\";\n"), "ofString(body)"),
    };
    let mut headers = Vec::new();
    if let Some(key) = request.key {
        headers.push(format!("\"Authorization\", \"Bearer \" + System.getenv(\"{key}\")"));
    }
    headers.extend(request.headers.iter().map(|(name, value)| format!("\"{name}\", \"{value}\"")));
    let mut steps = vec!["timeout(Duration.ofSeconds(30))".to_owned()];
    steps.extend(headers.iter().map(|header| format!("header({header})")));
    let mut publishers = "";
    if !request.is_read() {
        publishers = "import java.net.http.HttpRequest.BodyPublishers;\n";
        steps.push(format!("method(\"{}\", BodyPublishers.{publisher})", request.method));
    }
    steps.push("build()".to_owned());
    let (first, rest) = request.name.split_at(1);
    let class = first.to_ascii_uppercase() + rest;
    Ok(format!(
        "import java.net.URI;\n\
         import java.net.http.HttpClient;\n\
         import java.net.http.HttpRequest;\n\
         {publishers}\
         import java.net.http.HttpResponse.BodyHandlers;\n\
         import java.time.Duration;\n\n\
         class {class} {{\n    \
           public static void main(String[] arguments) throws Exception {{\n        \
             var url = System.getenv().getOrDefault(\"{URL}\", \"{}\");\n\
             {text}        \
             var request = HttpRequest.newBuilder(URI.create(url + \"{}\"))\n            .{};\n        \
             var response = HttpClient.newHttpClient().send(request, BodyHandlers.ofString());\n        \
             if (response.statusCode() > 299) {{\n            \
               System.err.println(response.statusCode() + \" \" + response.body());\n            \
               System.exit(1);\n        \
             }}\n        \
             System.out.println(response.body());\n    \
           }}\n}}\n",
        request.default_url,
        request.path,
        steps.join("\n            .")
    ))
}
