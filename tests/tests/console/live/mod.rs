//! Pages that keep themselves up to date, as their script asks for them: the page, the stream that it names, the page
//! again.

mod bounds;
mod ends;
mod news;

use tests::{Reply, within};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;

use crate::browser::Browser;

/// A stream of changes on a socket of its own.
pub(crate) struct Stream {
    socket: BufReader<TcpStream>,
    pub(crate) status: u16,
    /// The lines of its head, in lower case.
    head: Vec<String>,
}

impl Stream {
    /// Asks for a stream; what it answers, whether it is one or not.
    pub(crate) async fn ask(browser: &Browser, path: &str, lines: &[(&str, &str)]) -> Self {
        let host = browser.host();
        let socket = TcpStream::connect(&host).await.unwrap();
        let mut request = format!("GET {path} HTTP/1.1\r\nhost: {host}\r\nsec-fetch-site: same-origin\r\n");
        let cookie = browser.cookie_line().map(|cookie| ("cookie".to_owned(), cookie));
        let given = lines.iter().map(|(name, line)| ((*name).to_owned(), (*line).to_owned()));
        for (name, line) in cookie.into_iter().chain(given) {
            request.push_str(&format!("{name}: {line}\r\n"));
        }
        let mut socket = BufReader::new(socket);
        socket.write_all(format!("{request}\r\n").as_bytes()).await.unwrap();
        let mut head = Vec::new();
        loop {
            let mut line = String::new();
            within("the head of a stream", socket.read_line(&mut line)).await.unwrap();
            if line.trim().is_empty() {
                break;
            }
            head.push(line.trim().to_lowercase());
        }
        let status = head.first().unwrap_or_else(|| panic!("an answer")).split(' ').nth(1).unwrap();
        Self { socket, status: status.parse().unwrap(), head }
    }

    /// Opens the stream of a page that was just loaded.
    pub(crate) async fn of(browser: &Browser, page: &str) -> Self {
        let stream = Self::ask(browser, &address(&browser.page(page).await), &[]).await;
        assert_eq!(stream.status, 200, "{:?}", stream.head);
        stream
    }

    /// A header of the answer.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.iter().find_map(|line| line.strip_prefix(&format!("{name}: ")))
    }

    /// The mark of the next change; `None` when the stream ends.
    pub(crate) async fn next(&mut self) -> Option<String> {
        let mut id = None;
        loop {
            let mut line = String::new();
            let read = within("a line of a stream", self.socket.read_line(&mut line)).await;
            // The last chunk is empty; the connection itself stays for further requests.
            if read.ok()? == 0 || line.trim() == "0" {
                return None;
            }
            match line.trim().split_once(": ") {
                Some(("id", mark)) => id = Some(mark.to_owned()),
                Some(("data", "changed")) => return Some(id.unwrap()),
                _ => {}
            }
        }
    }
}

/// An attribute of a page's main part.
pub(crate) fn attribute(html: &str, name: &str) -> String {
    let (_, rest) =
        html.split_once(&format!(" data-{name}=\"")).unwrap_or_else(|| panic!("data-{name}: {html}"));
    rest.split_once('"').unwrap().0.replace("&#38;", "&").replace("&amp;", "&")
}

/// What a page shows: its mark.
pub(crate) async fn seen(browser: &Browser, page: &str) -> String {
    attribute(&browser.page(page).await, "seen")
}

/// The address of a page's stream, as its script makes it.
pub(crate) fn address(html: &str) -> String {
    let path = attribute(html, "live");
    let joint = if path.contains('?') { '&' } else { '?' };
    format!("{path}{joint}seen={}", attribute(html, "seen"))
}

/// A page as its script asks for it.
pub(crate) async fn by_itself(browser: &Browser, page: &str) -> Reply {
    browser.get_with(page, &[("x-requested-with", "live")]).await
}
