//! Many events in one request to an inbox: each as its length in bytes (four, big-endian) and its JSON text.

/// The body that carries `events`. `None` when one is longer than a length can say.
#[must_use]
pub fn encode(events: &[&str]) -> Option<Vec<u8>> {
    let mut body = Vec::with_capacity(events.iter().map(|event| 4 + event.len()).sum());
    for event in events {
        body.extend_from_slice(&u32::try_from(event.len()).ok()?.to_be_bytes());
        body.extend_from_slice(event.as_bytes());
    }
    Some(body)
}

/// The events that `body` carries, `None` when it carries something else.
#[must_use]
pub fn decode(mut body: &[u8]) -> Option<Vec<&[u8]>> {
    let mut events = Vec::new();
    while !body.is_empty() {
        let (length, rest) = body.split_first_chunk()?;
        let (event, rest) = rest.split_at_checked(usize::try_from(u32::from_be_bytes(*length)).ok()?)?;
        events.push(event);
        body = rest;
    }
    Some(events)
}

/// What an inbox has done with a batch; the other events were there already.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Taken {
    /// Events that were new.
    pub first: u32,
    /// Events that were passed over, because the inbox may have had and removed them.
    pub too_old: u32,
}

impl Taken {
    /// The numbers, as an inbox answers them.
    #[must_use]
    pub fn to_text(self) -> String {
        format!("{} {}", self.first, self.too_old)
    }

    /// The numbers that an inbox answered, `None` when it answered something else.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (first, too_old) = text.split_once(' ')?;
        Some(Self { first: first.parse().ok()?, too_old: too_old.parse().ok()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_arrive_as_they_were_given() {
        let taken = Taken { first: 3, too_old: 40 };
        assert_eq!(Taken::parse(&taken.to_text()), Some(taken));
        for text in ["", "3", "3 ", "3 -1", "3 4 5", "a b"] {
            assert_eq!(Taken::parse(text), None, "{text:?}");
        }
    }

    #[test]
    fn events_arrive_as_they_were_sent() {
        for events in [&[][..], &["{}"], &["", "{\"a\":\"\u{e4}\"}", "\n"]] {
            let body = encode(events).unwrap();
            let decoded: Vec<_> = events.iter().map(|event| event.as_bytes()).collect();
            assert_eq!(decode(&body), Some(decoded));
        }
        for cut in 1..12 {
            let body = encode(&["{}", "{}"]).unwrap();
            assert_eq!(decode(&body[..cut]).is_some(), cut == 6, "{cut}");
        }
    }
}
