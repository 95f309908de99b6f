//! What the forms of one merchant may hold of the service: unread answers, and requests under way (contract 5.5, 5.6).

use futures_util::future::join_all;
use tests::{Database, Merchant, on_both_databases};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpSocket, TcpStream};

use super::{ALL, entered};
use crate::browser::Browser;

on_both_databases!(refused_forms_that_nobody_reads_are_bounded);

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
