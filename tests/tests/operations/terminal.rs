//! What a person sees at a terminal, and what a program gets from a pipe: the same words, colours only there.

use tests::{Answer, Authority, Merchant, Receiver};

/// The text without the sequences that set a colour.
fn plain(text: &str) -> String {
    let mut parts = text.split("\u{1b}[");
    let first = parts.next().unwrap().to_owned();
    parts.fold(first, |text, part| text + part.split_once('m').unwrap().1)
}

/// The cells of a table without those that say how long ago something was: that changes meanwhile.
fn timeless(text: &str) -> Vec<&str> {
    let cells = text.split("  ").flat_map(str::lines).map(str::trim).filter(|cell| !cell.is_empty());
    cells.filter(|cell| *cell != "now" && !cell.ends_with(" ago")).collect()
}

#[tokio::test]
async fn a_terminal_has_colours_and_a_pipe_has_none() {
    let (authority, merchant) = Merchant::alone("seen").await;
    let receiver =
        Receiver::start(|arrival| Answer::status(if arrival.number == 1 { 503 } else { 200 })).await;
    merchant.endpoint(&receiver.url("/hook"), &["checkout.*"]).await;
    merchant.checkout().await;
    authority.nothing_pending().await;
    let [bold, green, red, end] = ["\u{1b}[1m", "\u{1b}[32m", "\u{1b}[31m", "\u{1b}[0m"];
    for (command, seen) in [
        (&["merchant", "list"][..], vec![format!("{bold}STATUS{end}"), format!("{green}active{end}")]),
        (&["config", "check"], vec![format!("{bold}NAME{end}"), format!("{bold}SOURCE{end}")]),
        (&["doctor"], vec![format!("{green}ok{end}")]),
        (
            &["delivery", "tail", "--once"],
            vec![
                format!("{bold}LATENCY{end}"),
                format!("{red}http_error{end}"),
                format!("{red}503{end}"),
                format!("{green}200{end}"),
            ],
        ),
        (
            &["events", "tail", "--merchant", "seen", "--mode", "test", "--once"],
            vec![format!("{bold}WHEN{end}")],
        ),
        (&["--help"], vec![format!("{bold}\u{1b}[4mCommands:{end}")]),
    ] {
        let (shown, code) = authority.at_terminal(&[], command).await;
        assert_eq!(code, Some(0), "{shown}");
        for part in seen {
            assert!(shown.contains(&part), "{command:?}: no {part:?} in {shown:?}");
        }
        let piped = authority.run(command).await;
        let piped = String::from_utf8(piped.stdout).unwrap();
        assert!(!piped.contains('\u{1b}'), "{piped:?}");
        assert_eq!(timeless(&plain(&shown)), timeless(&piped), "{command:?}");
        for forbidden in [("NO_COLOR", "1"), ("CLICOLOR", "0")] {
            let (shown, _) = authority.at_terminal(&[forbidden], command).await;
            assert!(!shown.contains('\u{1b}'), "{forbidden:?}: {shown:?}");
        }
    }
    // What is for programs is the same everywhere.
    let (shown, _) = authority.at_terminal(&[], &["merchant", "list", "--json"]).await;
    assert_eq!(shown.as_bytes(), authority.run(&["merchant", "list", "--json"]).await.stdout);
}

#[tokio::test]
async fn a_mistake_is_told_at_a_terminal_as_elsewhere() {
    let authority = Authority::start(&[]).await;
    let (shown, code) = authority.at_terminal(&[], &["key", "list", "--merchant", "nobody"]).await;
    assert_eq!((shown.as_str(), code), ("authority: there is no such merchant\n", Some(1)));
}

/// A session shows each answer as it comes, and Ctrl-C ends it in order.
#[tokio::test]
async fn a_session_at_a_terminal_goes_on_until_ctrl_c() {
    let (authority, merchant) = Merchant::alone("watched").await;
    let receiver =
        Receiver::start(|arrival| Answer::status(if arrival.number == 1 { 422 } else { 200 })).await;
    let url = format!("http://{}", authority.merchant_address());
    let target = receiver.url("/hook");
    let key = [("AUTHORITY_API_KEY", merchant.key.as_str())];
    merchant.checkout().await;
    let arguments = ["listen", "--forward-to", &target, "--from", "start", "--url", &url];
    let mut session = authority.begin_at_terminal(&key, &arguments);
    session.until("-> \u{1b}[31m422\u{1b}[0m (").await;
    merchant.checkout().await;
    session.until("-> \u{1b}[32m200\u{1b}[0m (").await;
    session.interrupt().await;
    let (shown, code) = session.end().await;
    assert_eq!(code, Some(0), "{shown}");
    assert!(shown.contains("authority: to go on from here: --from "), "{shown}");
}
