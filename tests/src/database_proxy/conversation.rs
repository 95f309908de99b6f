//! What service and server say to each other, message by message, and the round trips that it takes.
//!
//! A request ends with a message that the server answers with `ReadyForQuery`. It is one round trip later than the
//! newest answer that the service had when it sent the request's first message: requests that are sent without waiting
//! share a round trip. `ReadyForQuery` says as well whether a transaction is open. A statement that writes outside of a
//! transaction is one of its own.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::Arc;

use bytes::{Buf as _, Bytes, BytesMut};

use super::statement::Statement;
use super::trips::Trips;

/// The code of a first message that asks for TLS, and of one that asks for GSSAPI: a single byte answers it.
const ENCRYPTION: [u32; 2] = [80_877_103, 80_877_104];
/// The code of a connection that only cancels a statement of another.
const CANCEL: u32 = 80_877_102;

/// One connection's.
#[derive(Debug, Default)]
pub(super) struct Conversation {
    from_client: BytesMut,
    from_server: BytesMut,
    stage: Stage,
    /// By the name under which the service prepared it.
    statements: HashMap<Bytes, Arc<Statement>>,
    /// The request that is being sent.
    asking: Option<Request>,
    unanswered: VecDeque<Request>,
    /// The round trip of the newest answer that the service has.
    seen: u32,
    transaction: Option<Transaction>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Stage {
    #[default]
    Greeting,
    /// The service asked whether the connection may be encrypted.
    Encryption,
    Messages,
    /// It is encrypted, or no conversation.
    Unreadable,
}

/// Messages that one `ReadyForQuery` answers.
#[derive(Debug)]
struct Request {
    trip: u32,
    /// What it runs.
    statements: Vec<Arc<Statement>>,
}

#[derive(Debug)]
struct Transaction {
    /// The round trip before its first.
    before: u32,
    requests: Vec<Request>,
}

impl Conversation {
    /// The service has sent this.
    pub(super) fn sent(&mut self, piece: &[u8]) {
        if self.stage == Stage::Unreadable {
            return;
        }
        self.from_client.extend_from_slice(piece);
        while matches!(self.stage, Stage::Greeting | Stage::Encryption) {
            let Some(code) = greeting(&mut self.from_client) else { return };
            self.stage = match code {
                CANCEL => Stage::Unreadable,
                code if ENCRYPTION.contains(&code) => Stage::Encryption,
                _ => Stage::Messages,
            };
            if self.stage == Stage::Messages {
                // The server answers the greeting as it answers a request.
                self.end_request();
            }
        }
        while let Some((kind, body)) = message(&mut self.from_client) {
            self.asked(kind, body);
        }
    }

    /// The service gets this now. What ends with it is counted.
    pub(super) fn delivered(&mut self, piece: &[u8], counted: &mut Trips) {
        if self.stage == Stage::Unreadable {
            return;
        }
        self.from_server.extend_from_slice(piece);
        if self.stage == Stage::Encryption {
            match self.from_server.first() {
                Some(b'N') => self.from_server.advance(1),
                Some(_) => self.stage = Stage::Unreadable,
                None => {}
            }
            return;
        }
        while let Some((kind, body)) = message(&mut self.from_server) {
            if kind == b'Z' {
                self.answered(body.first() != Some(&b'I'), counted);
            }
        }
    }

    /// The round trips of the open transaction so far.
    pub(super) fn trips_in_transaction(&self) -> Option<u32> {
        self.transaction.as_ref().map(|transaction| self.seen - transaction.before)
    }

    fn asked(&mut self, kind: u8, mut body: Bytes) {
        let trip = self.seen + 1;
        let request = self.asking.get_or_insert_with(|| Request { trip, statements: Vec::new() });
        match kind {
            b'P' => {
                let name = text(&mut body);
                let sql = text(&mut body);
                let statement = Statement::read(&String::from_utf8_lossy(&sql));
                self.statements.insert(name, Arc::new(statement));
            }
            b'B' => {
                let _portal = text(&mut body);
                request.statements.extend(self.statements.get(&text(&mut body)).cloned());
            }
            b'Q' => {
                let statement = Statement::read(&String::from_utf8_lossy(&text(&mut body)));
                request.statements.push(Arc::new(statement));
                self.end_request();
            }
            b'S' | b'F' => self.end_request(),
            _ => {}
        }
    }

    fn end_request(&mut self) {
        let trip = self.seen + 1;
        let request = self.asking.take().unwrap_or(Request { trip, statements: Vec::new() });
        self.unanswered.push_back(request);
    }

    fn answered(&mut self, in_transaction: bool, counted: &mut Trips) {
        let Some(request) = self.unanswered.pop_front() else { return };
        self.seen = self.seen.max(request.trip);
        let transaction = self
            .transaction
            .get_or_insert_with(|| Transaction { before: request.trip - 1, requests: Vec::new() });
        transaction.requests.push(request);
        if in_transaction {
            return;
        }
        let trips = self.seen - transaction.before;
        let requests = std::mem::take(&mut transaction.requests);
        self.transaction = None;
        let statements = || requests.iter().flat_map(|request| &request.statements);
        let tables: BTreeSet<&str> =
            statements().flat_map(|statement| &statement.writes).map(String::as_str).collect();
        if tables.is_empty() {
            counted.others += u64::from(trips);
            return;
        }
        let tables: Vec<&str> = tables.into_iter().collect();
        counted.count(trips, tables.join(", "), || requests.iter().map(Request::brief).collect());
    }
}

impl Request {
    fn brief(&self) -> String {
        let briefs: Vec<&str> = self.statements.iter().map(|statement| statement.brief.as_str()).collect();
        if briefs.is_empty() { "prepares".to_owned() } else { briefs.join("; ") }
    }
}

/// Takes a first message, which has no type; returns its code.
fn greeting(bytes: &mut BytesMut) -> Option<u32> {
    let length = usize::try_from(bytes.get(..4)?.try_get_u32().ok()?).ok()?;
    let mut message = bytes.get(4..length)?;
    let code = message.try_get_u32().ok()?;
    bytes.advance(length);
    Some(code)
}

/// Takes a message: its type and its body.
fn message(bytes: &mut BytesMut) -> Option<(u8, Bytes)> {
    let length = usize::try_from(bytes.get(1..5)?.try_get_u32().ok()?).ok()?;
    if bytes.len() <= length {
        return None;
    }
    let mut message = bytes.split_to(length + 1).freeze();
    let kind = message.get_u8();
    message.advance(4);
    Some((kind, message))
}

/// Takes a text up to its zero.
fn text(bytes: &mut Bytes) -> Bytes {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    let text = bytes.split_to(end);
    bytes.advance(1.min(bytes.len()));
    text
}
