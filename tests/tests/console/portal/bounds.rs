//! What the forms of one merchant may hold of the service: unread answers, and requests under way (contract 5.5, 5.6).

use futures_util::future::{join_all, select_all};
use tests::{Database, Merchant, on_both_databases};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpSocket, TcpStream};

use super::{ALL, entered};
use crate::browser::Browser;

on_both_databases!(
    refused_forms_that_nobody_reads_are_bounded,
    forms_that_do_not_arrive_are_requests_under_way,
    two_large_forms_arrive_at_a_time,
);

/// Requests of one merchant.
const UNDER_WAY: usize = 256;

/// As many as take more than all the memory for answers, were each answered with what was typed.
const DEAF: usize = 60;

/// The head of a form that arrives in two parts.
fn head(browser: &Browser, path: &str, length: usize, lines: &str) -> String {
    let (host, cookie) = (browser.host(), browser.cookie_line().unwrap());
    format!(
        "POST {path} HTTP/1.1\r\nhost: {host}\r\ncookie: {cookie}\r\nsec-fetch-site: same-origin\r\n\
         content-type: application/x-www-form-urlencoded\r\ncontent-length: {length}\r\n{lines}\r\n"
    )
}

async fn status(connection: &mut TcpStream) -> String {
    let mut line = [0; 12];
    connection.read_exact(&mut line).await.unwrap();
    String::from_utf8(line.to_vec()).unwrap()
}

/// The token of the session's forms.
async fn token(browser: &Browser, path: &str) -> String {
    let form = browser.form(path, path).await;
    form.into_iter().find(|(name, _)| name == "_token").unwrap().1
}

/// A form that waits for its body: the connection, and whether the body is asked for.
async fn announced(browser: &Browser, head: &str) -> (TcpStream, bool) {
    // What the system keeps for this side is not the authority's.
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4 * 1024).unwrap();
    let mut connection = socket.connect(browser.host().parse().unwrap()).await.unwrap();
    connection.write_all(head.as_bytes()).await.unwrap();
    match status(&mut connection).await.as_str() {
        "HTTP/1.1 100" => {
            connection.read_exact(&mut [0; " Continue\r\n\r\n".len()]).await.unwrap();
            (connection, true)
        }
        refused => {
            assert_eq!(refused, "HTTP/1.1 429");
            (connection, false)
        }
    }
}

/// Sends the body, if it is asked for; the connection, and the status of the answer, of which no more is read.
async fn answered((mut connection, asked): (TcpStream, bool), body: &str) -> (TcpStream, String) {
    if !asked {
        return (connection, "HTTP/1.1 429".to_owned());
    }
    connection.write_all(body.as_bytes()).await.unwrap();
    let status = status(&mut connection).await;
    (connection, status)
}

/// Forms that come back on their pages would have five times as many bytes as HTML. All of them are begun before the
/// first is answered, and no answer is read.
async fn refused_forms_that_nobody_reads_are_bounded(database: Database) {
    let (authority, merchant) = Merchant::on(database, "deaf").await;
    let other = Merchant::create(&authority, "listens").await;
    let number = other.paid_order().await;
    let endpoint = merchant.endpoint("http://127.0.0.1:9/hook", &["*"]).await;
    let browser = entered(&merchant, ALL).await;
    let path = format!("/portal/endpoints/{}/explain", endpoint.id);
    let quotes = "\"".repeat(700 * 1024);
    let form = format!("_token={}&headers=a&body={quotes}", token(&browser, &path).await);
    let head = head(&browser, &path, form.len(), "expect: 100-continue\r\n");
    let begun = join_all((0..DEAF).map(|_| announced(&browser, &head))).await;
    let unread = join_all(begun.into_iter().map(|begun| answered(begun, &form))).await;
    assert!(unread.iter().any(|(_, status)| status == "HTTP/1.1 413"), "none was answered");
    other.order(&number).await;
    merchant.api.get("/webhook-endpoints").await.expect(200);
    assert_eq!(browser.get("/portal").await.status, 200);
}

/// Forms of which no body comes count with the merchant's other requests, and one beyond the bound is refused at once.
async fn forms_that_do_not_arrive_are_requests_under_way(database: Database) {
    let (authority, merchant) = Merchant::on(database, "busy").await;
    let other = Merchant::create(&authority, "other").await;
    let (browser, others) = (entered(&merchant, ALL).await, entered(&other, ALL).await);
    let head = head(&browser, "/portal/endpoints", 2, "");
    let mut connections = Vec::new();
    for _ in 0..=UNDER_WAY {
        let mut connection = TcpStream::connect(browser.host()).await.unwrap();
        connection.write_all(head.as_bytes()).await.unwrap();
        connections.push(connection);
    }
    // Whichever comes last is the one that is answered.
    let answers = connections.iter_mut().map(|connection| Box::pin(status(connection)));
    let (refused, last, _) = select_all(answers).await;
    assert_eq!(refused, "HTTP/1.1 429");
    connections.swap_remove(last);

    let page = browser.get("/portal").await;
    assert_eq!((page.status, page.header("retry-after")), (429, Some("1")), "{}", page.text());
    merchant.api.get("/webhook-endpoints").await.refused(429, "rate_limited");
    assert_eq!(others.get("/portal").await.status, 200);
    let mut done = connections.swap_remove(0);
    done.write_all(b"a=").await.unwrap();
    assert_eq!(status(&mut done).await, "HTTP/1.1 403", "it has no token");
    assert_eq!(browser.get("/portal").await.status, 200);
}

/// A pasted body is read when there is room for it, and no other form has room for one.
async fn two_large_forms_arrive_at_a_time(database: Database) {
    let (authority, merchant) = Merchant::on(database, "acme").await;
    let other = Merchant::create(&authority, "other").await;
    let endpoint = merchant.endpoint("http://127.0.0.1:9/hook", &["*"]).await;
    let (browser, others) = (entered(&merchant, ALL).await, entered(&other, ALL).await);
    let page = format!("/portal/endpoints/{}", endpoint.id);
    let path = format!("{page}/explain");
    let form = format!("_token={}&headers=a&received_at=x&body=b", token(&browser, &path).await);
    let expects = "expect: 100-continue\r\n";
    let [head, theirs] = [&browser, &others].map(|of| head(of, &path, form.len(), expects));
    let (first, asked) = announced(&browser, &head).await;
    let (_second, second_asked) = announced(&browser, &head).await;
    assert!(asked && second_asked);
    let (_, third_asked) = announced(&browser, &head).await;
    assert!(!third_asked, "two of one merchant at a time");
    let (_, others_asked) = announced(&others, &theirs).await;
    assert!(others_asked, "others have their own");
    assert_eq!(answered((first, asked), &form).await.1, "HTTP/1.1 422");
    assert!(announced(&browser, &head).await.1, "the first is done");

    let long = "x".repeat(64 * 1024);
    let typed = [("url", "http://127.0.0.1:9/hook"), ("events", "*"), ("description", long.as_str())];
    let refused = browser.send(&page, &format!("{page}/change"), &typed).await;
    assert_eq!(refused.status, 413, "{}", refused.text());
    assert!(!refused.text().contains("xxx"));
}
