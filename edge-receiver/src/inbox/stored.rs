//! How recorded events are told about: one record as JSON, and all of an inbox in numbers.

use verify_core::receiver::Status;

/// A record as it stands in its inbox.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stored {
    /// The event id.
    pub id: String,
    /// The event's type.
    pub event_type: String,
    /// When the event was created, as its body says.
    pub created_at: String,
    /// The merchant that the event belongs to.
    pub merchant_id: String,
    /// Live or test traffic; `None` when the event does not say.
    pub livemode: Option<bool>,
    /// When the inbox took it in, Unix milliseconds.
    pub received_at_ms: i64,
    /// Where it stands.
    pub status: Status,
    /// How many attempts were begun.
    pub attempts: i64,
    /// Why the last attempt failed: one of the texts of [`crate::sink::Failure`].
    pub last_error: Option<String>,
    /// When the next attempt is due, Unix milliseconds; 0 is at once, `None` never again.
    pub due_at_ms: Option<i64>,
    /// The event's JSON text, as it was signed.
    pub text: String,
}

/// The record as a JSON object, the event itself as its member `event`. Times are Unix milliseconds.
///
/// Nothing in it needs an escape: ids, types and times were verified to have none of those characters (contract 10.3),
/// an error's text is one of our own, and the event is JSON already.
#[must_use]
pub fn to_json(stored: &Stored) -> String {
    let Stored { id, event_type, created_at, merchant_id, received_at_ms, attempts, text, .. } = stored;
    let livemode = stored.livemode.map_or("null", |livemode| if livemode { "true" } else { "false" });
    let status = stored.status.as_str();
    let last_error = stored.last_error.as_ref().map_or("null".to_owned(), |error| format!("\"{error}\""));
    let due_at_ms = stored.due_at_ms.map_or("null".to_owned(), |due_at| due_at.to_string());
    format!(
        r#"{{"id":"{id}","type":"{event_type}","created_at":"{created_at}","merchant_id":"{merchant_id}","livemode":{livemode},"received_at_ms":{received_at_ms},"status":"{status}","attempts":{attempts},"last_error":{last_error},"due_at_ms":{due_at_ms},"event":{text}}}"#
    )
}

/// How the events of one inbox, or of all, stand.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Summary {
    /// Taken in, and nothing attempted yet.
    pub received: u64,
    /// An attempt is under way.
    pub processing: u64,
    /// Handed over.
    pub processed: u64,
    /// The last attempt failed; the next one follows.
    pub error: u64,
    /// When the oldest event that is not handed over was taken in, Unix milliseconds.
    pub oldest_unprocessed_ms: Option<i64>,
}

impl Summary {
    /// The number of one state.
    pub fn count(&mut self, status: Status) -> &mut u64 {
        match status {
            Status::Received => &mut self.received,
            Status::Processing => &mut self.processing,
            Status::Processed => &mut self.processed,
            Status::Error => &mut self.error,
        }
    }

    /// Takes the numbers of another inbox in.
    pub fn add(&mut self, other: &Self) {
        self.received += other.received;
        self.processing += other.processing;
        self.processed += other.processed;
        self.error += other.error;
        self.notice(other.oldest_unprocessed_ms);
    }

    /// Takes the receipt of an event that is not handed over into account.
    pub fn notice(&mut self, received_at_ms: Option<i64>) {
        self.oldest_unprocessed_ms = [self.oldest_unprocessed_ms, received_at_ms].into_iter().flatten().min();
    }

    /// The numbers as an inbox says them: five words, `-` for no time.
    #[must_use]
    pub fn to_text(&self) -> String {
        let Self { received, processing, processed, error, oldest_unprocessed_ms } = self;
        let oldest = oldest_unprocessed_ms.map_or("-".to_owned(), |at| at.to_string());
        format!("{received} {processing} {processed} {error} {oldest}")
    }

    /// The numbers that an inbox said, `None` when it said something else.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut words = text.split(' ');
        let mut number = || words.next()?.parse().ok();
        let (received, processing, processed, error) = (number()?, number()?, number()?, number()?);
        let oldest_unprocessed_ms = match words.next()? {
            "-" => None,
            at => Some(at.parse().ok()?),
        };
        match words.next() {
            None => Some(Self { received, processing, processed, error, oldest_unprocessed_ms }),
            Some(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_shown_whole() {
        let stored = Stored {
            id: "evt_1".into(),
            event_type: "order.confirmed".into(),
            created_at: "2026-09-01T12:00:00.000Z".into(),
            merchant_id: "mer_7".into(),
            livemode: Some(true),
            received_at_ms: 1_788_264_000_000,
            status: Status::Error,
            attempts: 3,
            last_error: Some("answered 503".into()),
            due_at_ms: Some(1_788_264_004_000),
            text: r#" {"id":"evt_1"} "#.into(),
        };
        assert_eq!(
            to_json(&stored),
            r#"{"id":"evt_1","type":"order.confirmed","created_at":"2026-09-01T12:00:00.000Z","merchant_id":"mer_7","livemode":true,"received_at_ms":1788264000000,"status":"error","attempts":3,"last_error":"answered 503","due_at_ms":1788264004000,"event": {"id":"evt_1"} }"#
        );
        let done =
            Stored { status: Status::Processed, last_error: None, due_at_ms: None, livemode: None, ..stored };
        let json = to_json(&done);
        assert!(json.contains(r#""livemode":null,"#), "{json}");
        assert!(
            json.contains(r#""status":"processed","attempts":3,"last_error":null,"due_at_ms":null,"#),
            "{json}"
        );
    }

    #[test]
    fn numbers_arrive_as_they_were_said() {
        let empty = Summary::default();
        let full = Summary {
            received: 1,
            processing: 2,
            processed: u64::MAX,
            error: 4,
            oldest_unprocessed_ms: Some(5),
        };
        for summary in [empty, full] {
            assert_eq!(Summary::parse(&summary.to_text()), Some(summary));
        }
        for text in ["", "1 2 3 4", "1 2 3 4 5 6", "1 2 3 -4 5", "a b c d -", "1 2 3 4 ", "1  2 3 4 -"] {
            assert_eq!(Summary::parse(text), None, "{text:?}");
        }
    }

    #[test]
    fn inboxes_add_up() {
        let mut total = Summary::default();
        total.add(&Summary { received: 1, oldest_unprocessed_ms: Some(7), ..Summary::default() });
        total.add(&Summary { processed: 5, ..Summary::default() });
        total.add(&Summary { received: 2, error: 1, oldest_unprocessed_ms: Some(3), ..Summary::default() });
        *total.count(Status::Processing) += 1;
        let expected =
            Summary { received: 3, processing: 1, processed: 5, error: 1, oldest_unprocessed_ms: Some(3) };
        assert_eq!(total, expected);
    }
}
