//! Without `--once`: the keys and the lines to paste, what arrives later, and the end by signal or by force.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::Value;

use crate::process::{command, ended, folder, kept};

/// A run that stays up, read line by line.
struct Running {
    child: Child,
    lines: Receiver<String>,
}

impl Running {
    fn start(data: &Path) -> Self {
        Self::start_at(data, "127.0.0.1:0")
    }

    fn start_at(data: &Path, operator: &str) -> Self {
        let listeners = [("AUTHORITY_LISTEN", "127.0.0.1:0"), ("AUTHORITY_OPERATOR_LISTEN", operator)];
        let mut child =
            command(data, &[], &listeners).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (read, lines) = channel();
        std::thread::spawn(move || stdout.lines().map_while(Result::ok).try_for_each(|line| read.send(line)));
        Self { child, lines }
    }

    /// The lines up to and with the first that `last` is true for.
    fn read_until(&self, last: impl Fn(&str) -> bool) -> Vec<String> {
        let mut lines = Vec::new();
        while !lines.last().is_some_and(|line: &String| last(line)) {
            lines.push(self.lines.recv_timeout(Duration::from_secs(60)).unwrap());
        }
        lines
    }

    fn terminate(mut self) -> Option<i32> {
        let kill = format!("kill -TERM {}", self.child.id());
        assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
        self.child.wait().unwrap().code()
    }
}

/// Does what a pasted `curl` line does, with the shell's own reading of it. The answer's status and body.
fn paste(keys: &str, line: &str) -> (u16, Value) {
    let script = format!("{keys}\ncurl() {{ printf '%s\\0' \"$@\"; }}\n{line}");
    let output = Command::new("sh").args(["-c", &script]).output().unwrap();
    let output = String::from_utf8(output.stdout).unwrap();
    let (mut method, mut headers, mut body, mut url) = ("GET", String::new(), "", "");
    let mut words = output.split_terminator('\0');
    while let Some(word) = words.next() {
        match word {
            "-s" => {}
            "-X" => method = words.next().unwrap(),
            "-H" => headers.extend([words.next().unwrap(), "\r\n"]),
            "-d" => (method, body) = ("POST", words.next().unwrap()),
            other => url = other,
        }
    }
    let (status, _, body) = ask(method, url, &headers, body);
    (status, serde_json::from_str(&body).unwrap())
}

/// Status, head and body of an answer.
fn ask(method: &str, url: &str, headers: &str, body: &str) -> (u16, String, String) {
    let (host, path) = url.strip_prefix("http://").unwrap().split_once('/').unwrap();
    let mut stream = TcpStream::connect(host).unwrap();
    let length = body.len();
    write!(
        stream,
        "{method} /{path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nContent-Length: {length}\r\n{headers}\r\n{body}"
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head.split(' ').nth(1).unwrap().parse().unwrap(), head.to_owned(), body.to_owned())
}

/// Opens an address as a browser does; what the page says that it leads to.
fn open(url: &str) -> String {
    let (status, _, page) = ask("GET", url, "", "");
    assert_eq!(status, 200, "{page}");
    assert!(page.contains("<button>Open</button>"), "{page}");
    let (status, head, _) = ask("POST", url, "sec-fetch-site: same-origin\r\n", "");
    assert_eq!(status, 303, "{head}");
    let line = |name: &str| head.lines().find_map(|line| line.strip_prefix(name)).unwrap();
    let cookie = line("set-cookie: ").split(';').next().unwrap();
    let origin = url.split('/').take(3).collect::<Vec<_>>().join("/");
    let (status, _, page) =
        ask("GET", &format!("{origin}{}", line("location: ")), &format!("cookie: {cookie}\r\n"), "");
    assert_eq!(status, 200, "{page}");
    page
}

#[test]
fn it_stays_up_with_lines_that_work_when_pasted() {
    let (_folder, data) = folder();
    let running = Running::start(&data);
    let lines = running.read_until(|line| line.starts_with("Staying up"));
    let keys: Vec<&str> = lines.iter().map(String::as_str).filter(|line| line.contains("KEY=svc_")).collect();
    assert_eq!(keys.len(), 2);
    let keys = keys.join("\n");
    the_commands_use_the_pasted_key(&keys, &lines);
    let pasted: Vec<(u16, Value)> =
        lines.iter().filter(|line| line.starts_with("curl ")).map(|line| paste(&keys, line)).collect();
    let statuses: Vec<u16> = pasted.iter().map(|(status, _)| *status).collect();
    assert_eq!(statuses, [200, 200, 202, 201]);
    let order = &pasted[0].1;
    assert_eq!(
        (&order["fulfillment_status"], &order["payment_status"]),
        (&"delivered".into(), &"partially_refunded".into())
    );
    assert_eq!(pasted[1].1["data"][0]["type"], "checkout.created");
    // What the pasted lines caused arrives and is shown.
    let test_event = pasted[2].1["event_id"].as_str().unwrap();
    let arrived = running.read_until(|line| line.contains("checkout.created")).join("\n");
    let arrived = if arrived.contains(test_event) {
        arrived
    } else {
        running.read_until(|line| line.contains(test_event)).join("\n")
    };
    assert!(arrived.contains("webhook.test"), "{arrived}");

    let (code, stdout, stderr) = ended(&mut command(&data, &["--once", "--json"], &[]));
    let path = data.display();
    let port = kept(&data)["endpoint"]["port"].to_string();
    let line = format!(
        "authority: port {port}, which the endpoint in {path} delivers to, is taken: stop what listens there (another \
         `authority dev`?), or give --data another directory\n"
    );
    assert_eq!((code, stdout, stderr), (Some(1), String::new(), line));
    assert_eq!(running.terminate(), Some(0));
    assert_eq!(ended(&mut command(&data, &["--once", "--json"], &[])).0, Some(0));
}

/// The lines that run the program itself: one produces an event, the other refuses nothing but the missing receiver.
fn the_commands_use_the_pasted_key(keys: &str, lines: &[String]) {
    let program = env!("CARGO_BIN_EXE_authority");
    let command = |name: &str| {
        let start = format!("{program} {name} ");
        lines.iter().find(|line| line.starts_with(&start)).unwrap()
    };
    // Where `listen` keeps its secret.
    let home = tempfile::tempdir().unwrap();
    let run = |line: &str| {
        let mut shell = Command::new("sh");
        shell.env_clear().env("HOME", home.path()).args(["-c", &format!("{keys}\n{line}")]);
        let output = shell.output().unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    let (code, stdout) = run(command("trigger"));
    assert_eq!(code, Some(0), "{stdout}");
    assert!(stdout.contains("evt_"), "{stdout}");
    // What follows `--from` is not known before `listen` asks the authority with the key.
    let (code, stdout) = run(&format!("{} --from nonsense", command("listen")));
    assert_eq!((code, stdout.as_str()), (Some(1), ""));
    let text = lines.join("\n");
    assert!(text.contains("/docs and ") && text.contains("`endpoint.secret` in "), "{text}");
}

/// A shell reads the keys with the line that is printed, whatever the folder is called.
#[test]
fn the_keys_are_read_from_a_folder_with_a_blank() {
    let (_folder, data) = folder();
    let data = data.with_file_name("a b's");
    let running = Running::start(&data);
    let lines = running.read_until(|line| line.starts_with("Staying up"));
    let (_, reads) = lines.iter().find_map(|line| line.split_once("read them there with `")).unwrap();
    let (reads, _) = reads.split_once("`. Then").unwrap();
    let script = format!("set -e\n{reads}\nprintf '%s' \"$OPERATOR_KEY\"");
    let output = Command::new("sh").env_clear().args(["-c", &script]).output().unwrap();
    assert!(output.status.success(), "{reads}: {output:?}");
    assert_eq!(String::from_utf8(output.stdout).unwrap(), kept(&data)["operator_key"]);
    assert_eq!(running.terminate(), Some(0));
}

#[test]
fn the_console_and_the_portal_open_signed_in_once() {
    let (_folder, data) = folder();
    let running = Running::start(&data);
    let lines = running.read_until(|line| line.starts_with("Staying up"));
    let address = |path: &str| lines.iter().find(|line| line.contains(path)).unwrap().clone();
    let (console, portal) = (address("/console/open/"), address("/portal/enter/"));
    let page = open(&console);
    assert!(page.contains("<bdi>authority dev</bdi>") && page.contains("What is wrong now"), "{page}");
    let page = open(&portal);
    assert!(page.contains("<bdi>Demo (test)</bdi>"), "{page}");
    // Neither is a way in a second time, nor is any other address.
    let other = format!("{}{}", &console[..console.len() - 64], "0".repeat(64));
    for (address, status) in [(&console, 303), (&other, 303), (&portal, 403)] {
        for method in ["GET", "POST"] {
            let (answered, head, _) = ask(method, address, "sec-fetch-site: same-origin\r\n", "");
            assert_eq!(answered, status, "{method} {address}");
            assert!(!head.contains("set-cookie"), "{head}");
            assert!(status != 303 || head.contains("location: /console/sign-in"), "{head}");
        }
    }
    assert_eq!(running.terminate(), Some(0));
    // Where the operator's listener can be reached from elsewhere, there is no such address of the console.
    let reached = Running::start_at(&data, "0.0.0.0:0");
    let lines = reached.read_until(|line| line.starts_with("Staying up")).join("\n");
    assert!(!lines.contains("/console/open/") && lines.contains("/portal/enter/"), "{lines}");
    assert_eq!(reached.terminate(), Some(0));
}

#[test]
fn after_a_kill_the_next_run_goes_on() {
    let (_folder, data) = folder();
    let mut running = Running::start(&data);
    running.read_until(|line| line.contains("order.confirmed"));
    running.child.kill().unwrap();
    running.child.wait().unwrap();
    let (code, stdout, stderr) = ended(&mut command(&data, &["--once", "--json"], &[]));
    assert_eq!(code, Some(0), "{stdout}{stderr}");
    let summary: Value = serde_json::from_str(stdout.lines().last().unwrap()).unwrap();
    assert_eq!(
        (&summary["events_emitted"], &summary["lost"]),
        (&Value::from(17), &Value::from(0)),
        "{summary}"
    );
}
