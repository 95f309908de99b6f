//! Go 1.19 or newer, with `net/http`.

use anyhow::{Result, bail};

use super::{Request, URL, literal};

pub(super) fn written(request: &Request) -> Result<String> {
    let body = request.body(&literal::JSON, 0)?;
    let (strings, content, reader) = match &body {
        None => ("", String::new(), "nil"),
        Some(body) if body.contains('`') => bail!("the body has a backtick"),
        Some(body) => ("\t\"strings\"\n", format!("\tbody := strings.NewReader(`{body}`)\n"), "body"),
    };
    let mut headers = Vec::new();
    if let Some(key) = request.key {
        headers.push(format!("\"Authorization\", \"Bearer \"+os.Getenv(\"{key}\")"));
    }
    headers.extend(request.headers.iter().map(|(name, value)| format!("\"{name}\", \"{value}\"")));
    let headers: String = headers.iter().map(|header| format!("\trequest.Header.Set({header})\n")).collect();
    let stop = "\tif err != nil {\n\t\tlog.Fatal(err)\n\t}\n";
    Ok(format!(
        "package main\n\nimport (\n\t\"fmt\"\n\t\"io\"\n\t\"log\"\n\t\"net/http\"\n\t\"os\"\n{strings}\t\"time\"\n)\n\n\
         func main() {{\n\
         \turl := os.Getenv(\"{URL}\")\n\
         \tif url == \"\" {{\n\t\turl = \"{}\"\n\t}}\n\
         {content}\trequest, err := http.NewRequest(\"{}\", url+\"{}\", {reader})\n{stop}{headers}\
         \tclient := http.Client{{Timeout: 30 * time.Second}}\n\
         \tresponse, err := client.Do(request)\n{stop}\
         \tanswer, err := io.ReadAll(response.Body)\n\
         \tresponse.Body.Close()\n{stop}\
         \tif response.StatusCode > 299 {{\n\t\tlog.Fatalf(\"%s %s\", response.Status, answer)\n\t}}\n\
         \tfmt.Println(string(answer))\n\
         }}\n",
        request.default_url, request.method, request.path
    ))
}
