//! What the command line prints, word for word: every help text, tables, and errors. The expected texts are files
//! in `golden/`. After a change that is meant, `UPDATE_GOLDEN=1` writes them anew; the difference is then read like
//! any other.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use tests::Merchant;
use tests::binary::lone;

const KEK: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/operations/golden")
}

fn updating() -> bool {
    std::env::var_os("UPDATE_GOLDEN").is_some()
}

/// Compares a text with its file, or writes the file.
fn compare(name: &str, text: &str) {
    let file = folder().join(name);
    if updating() {
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, text).unwrap();
    }
    let expected = fs::read_to_string(&file).unwrap_or_default();
    assert_eq!(text, expected, "{name} is not as expected; if it should be so, run with UPDATE_GOLDEN=1");
}

/// The help of a command and of all below it.
async fn helps() -> Vec<(String, String)> {
    let mut open = vec![Vec::<String>::new()];
    let mut texts = Vec::new();
    while let Some(command) = open.pop() {
        let mut arguments: Vec<&str> = command.iter().map(String::as_str).collect();
        arguments.push("--help");
        let help = lone(&arguments).output().await.unwrap();
        assert!(help.status.success() && help.stderr.is_empty(), "{arguments:?}");
        let help = String::from_utf8(help.stdout).unwrap();
        let below = help.split_once("Commands:\n").map_or("", |(_, below)| below);
        let names = below.lines().take_while(|line| line.starts_with("  "));
        let names = names.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help");
        open.extend(names.map(|name| [&command[..], &[name.to_owned()]].concat()));
        let name = [&["authority".to_owned()], &command[..]].concat().join("-");
        texts.push((format!("help/{name}.txt"), help));
    }
    texts
}

#[tokio::test]
async fn every_help_is_as_expected() {
    let helps = helps().await;
    if updating() && folder().join("help").exists() {
        fs::remove_dir_all(folder().join("help")).unwrap();
    }
    assert!(helps.len() > 40, "{} commands", helps.len());
    for (name, text) in &helps {
        compare(name, text);
    }
    let files: BTreeSet<String> = fs::read_dir(folder().join("help"))
        .unwrap()
        .map(|entry| format!("help/{}", entry.unwrap().file_name().to_str().unwrap()))
        .collect();
    assert_eq!(files, helps.into_iter().map(|(name, _)| name).collect(), "files without a command");
}

/// The text with every id and the beginning of every key replaced, at the same length.
fn steady(text: &str) -> String {
    let mut done = String::new();
    let mut hidden = false;
    for c in text.chars() {
        hidden = hidden && c.is_ascii_alphanumeric();
        done.push(if hidden { 'x' } else { c });
        hidden =
            hidden || ["mer_", "key_", "chk_", "we_", "svc_test_"].iter().any(|start| done.ends_with(start));
    }
    done
}

#[tokio::test]
async fn tables_are_as_expected() {
    let mut config = lone(&["config", "check"]);
    config.envs([("AUTHORITY_SECRET_KEK", KEK), ("AUTHORITY_LISTEN", "127.0.0.1:80")]);
    let config = config.output().await.unwrap();
    compare("config-check.txt", str::from_utf8(&config.stdout).unwrap());

    let (authority, merchant) = Merchant::alone("golden").await;
    merchant.endpoint("http://127.0.0.1:9/hook", &["order.*", "refund.completed"]).await;
    merchant.checkout().await;
    let of_merchant = ["--merchant", "golden"];
    for (name, command, more) in [
        ("merchant-list.txt", ["merchant", "list"], &[][..]),
        ("key-list.txt", ["key", "list"], &of_merchant),
        ("endpoint-list.txt", ["endpoint", "list"], &["--merchant", "golden", "--mode", "test"]),
    ] {
        let printed = authority.run(&[&command[..], more].concat()).await;
        assert!(printed.status.success(), "{printed:?}");
        compare(name, &steady(str::from_utf8(&printed.stdout).unwrap()));
    }
    let events = ["events", "tail", "--merchant", "golden", "--mode", "test", "--once"];
    let events = String::from_utf8(authority.run(&events).await.stdout).unwrap();
    let (headings, row) = events.split_once('\n').unwrap();
    // The second column, `now` or some seconds.
    let row = format!("{}{:<10}{}", &row[..10], "now", &row[20..]);
    compare("events-tail.txt", &steady(&format!("{headings}\n{row}")));
}

#[tokio::test]
async fn errors_are_as_expected() {
    let local = "http://127.0.0.1:9/hook";
    let mistakes: &[&[&str]] = &[
        &[],
        &["serv"],
        &["serve"],
        &["serve", "--migrat"],
        &["serve", "extra"],
        &["config", "check", "--josn"],
        &["operator-key"],
        &["operator-key", "create"],
        &["merchant", "create", "--slug", "acme"],
        &["key", "issue", "--merchant", "acme", "--name", "a", "--mode", "prod"],
        &["delivery", "tail", "--last", "1000"],
        &["key", "issue", "--merchant", "acme", "--nam", "a"],
        &["whsec_topsecret"],
        &["events", "tail", "--merchant", "acme", "--mode", "test", "--last", "3", "--from", "5"],
        &["trigger"],
        &["trigger", "order.exploded"],
        &["trigger", "order.created"],
        &["trigger", "order.created", "--set", "checkout.currency"],
        &["trigger", "order.created", "--set", "refund.amount=1"],
        &["trigger", "order.created", "--from", "story.json"],
        &["trigger", "--from", "/nonexistent/story.json"],
        &["listen"],
        &["listen", "--forward-to", "localhost:3000"],
        &["listen", "--forward-to", "https://hooks.example.com/"],
        &["listen", "--forward-to", "orders.*=http://127.0.0.1:9/hook"],
        &["listen", "--forward-to", local, "--forward-to", local],
        &["listen", "--forward-to", local, "--header", "X-Tenant"],
        &["listen", "--forward-to", local],
        &["listen", "--print-secret"],
        &["sign", "--timestamp", "1"],
        &["sign", "--secret-env", "whsec_topsecret", "--timestamp", "1788264000"],
        &["verify"],
        &["verify", "--secret-env", "NOT_SET"],
        &["completion", "csh"],
        &["man"],
        &["man", "/dev/null/man1"],
    ];
    let mut told = String::new();
    for arguments in mistakes {
        let ended = lone(arguments).output().await.unwrap();
        assert!(ended.stdout.is_empty(), "{arguments:?}");
        let said = String::from_utf8(ended.stderr).unwrap();
        let line = [&["authority"], *arguments].concat().join(" ");
        told.push_str(&format!("$ {line}\n{said}[{}]\n\n", ended.status.code().unwrap()));
    }
    compare("errors.txt", &told);
}
