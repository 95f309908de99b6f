//! A whole delivery in front of a receiver, made of bytes, and its two native verdicts.
//!
//! It is written down as JavaScript has it, because two of the three platforms that try it speak JavaScript: header
//! lines are strings, a body may be a string with halves of surrogate pairs in it, the time is in milliseconds and a
//! double. What becomes of that in bytes is what the native side is asked about.

use arbitrary::{Arbitrary, Result, Unstructured};
use verify_core::{Envelope, Headers, Tolerance, VerificationCode, Verifier};
use verify_reference::delivery::{CONFIGURATION, digest};

use crate::event::event;
use crate::pick::{mostly, one_of, rarely};
use crate::signature;

/// 2026-09-01T12:00:00Z.
const NOW: i64 = 1_788_264_000;

/// A body as it is handed to a verifier.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Body {
    /// `null`
    Absent,
    /// Raw bytes.
    Bytes(Vec<u8>),
    /// The UTF-16 units of a JavaScript string. It is taken as its UTF-8 bytes; half a surrogate pair becomes U+FFFD.
    Text(Vec<u16>),
}

impl Body {
    /// The bytes that are verified.
    #[must_use]
    pub fn bytes(&self) -> Option<Vec<u8>> {
        match self {
            Self::Absent => None,
            Self::Bytes(bytes) => Some(bytes.clone()),
            Self::Text(units) => Some(String::from_utf16_lossy(units).into_bytes()),
        }
    }
}

/// A delivery, and how its receiver is configured. Headers are lists of lines; no line is no header.
#[derive(Debug, Clone)]
pub struct Delivery {
    /// The body.
    pub body: Body,
    /// `Service-Timestamp`
    pub timestamp: Vec<String>,
    /// `Service-Signature`
    pub signature: Vec<String>,
    /// `Service-Event-Id`
    pub event_id: Vec<String>,
    /// What the receiver trusts, usable or not, possibly too many.
    pub secrets: Vec<String>,
    /// Seconds, possibly out of range.
    pub tolerance: i64,
    /// The receiver's clock, Unix milliseconds.
    pub now_ms: f64,
}

/// A delivery with its lines joined, as the functions under test take it.
#[derive(Debug, Clone)]
pub struct Joined {
    /// The raw body.
    pub body: Option<Vec<u8>>,
    /// The three headers.
    pub timestamp: Option<Vec<u8>>,
    /// Likewise.
    pub signature: Option<Vec<u8>>,
    /// Likewise.
    pub event_id: Option<Vec<u8>>,
    /// The receiver's time, Unix seconds.
    pub now: i64,
}

impl Joined {
    /// The three headers.
    #[must_use]
    pub fn headers(&self) -> Headers<'_> {
        let [timestamp, signature, event_id] =
            [&self.timestamp, &self.signature, &self.event_id].map(Option::as_deref);
        Headers { timestamp, signature, event_id }
    }
}

impl Delivery {
    /// The bytes that are judged, and when.
    #[must_use]
    pub fn joined(&self) -> Joined {
        // No outer blanks are removed: a line with such is an argument of its own here, as in the vectors.
        let join = |lines: &[String]| (!lines.is_empty()).then(|| lines.join(", ").into_bytes());
        Joined {
            body: self.body.bytes(),
            timestamp: join(&self.timestamp),
            signature: join(&self.signature),
            event_id: join(&self.event_id),
            now: (self.now_ms / 1000.0).floor() as i64,
        }
    }

    /// The receiver, unless it is configured as none can be.
    #[must_use]
    pub fn verifier(&self) -> Option<Verifier> {
        Verifier::new(&self.secrets, Tolerance::new(self.tolerance).ok()?).ok()
    }

    /// Hands the verdict of `verify-core` to `use_it`; `None` is a configuration error.
    pub fn judge<T>(
        &self,
        joined: &Joined,
        use_it: impl FnOnce(Option<std::result::Result<Envelope<'_>, VerificationCode>>) -> T,
    ) -> T {
        let (body, headers, now) = (joined.body.as_deref(), joined.headers(), joined.now);
        use_it(self.verifier().map(|verifier| verifier.verify(body, &headers, now)))
    }

    /// The same as a word.
    #[must_use]
    pub fn verdict(&self, joined: &Joined) -> &'static str {
        self.judge(joined, |verdict| match verdict {
            None => CONFIGURATION,
            Some(Ok(_)) => "ok",
            Some(Err(code)) => code.as_str(),
        })
    }

    /// The verdict of the slow reference.
    #[must_use]
    pub fn reference(&self, joined: &Joined) -> &'static str {
        let Headers { timestamp, signature, event_id } = joined.headers();
        verify_reference::Delivery {
            body: joined.body.as_deref(),
            timestamp,
            signature,
            event_id,
            secrets: &self.secrets,
            tolerance: self.tolerance,
            now: joined.now,
        }
        .verdict()
    }
}

impl<'a> Arbitrary<'a> for Delivery {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        let secrets = secrets(u)?;
        let tolerance = if rarely(u, 60)? {
            *u.choose(&[0, -1, 3601, i64::MAX])?
        } else {
            *u.choose(&[300, 1, 3600, 60])?
        };
        let body = body(u)?;
        let timestamp = timestamp(u)?;
        let joined = timestamp.join(", ");
        let bytes = body.bytes().unwrap_or_default();
        let good: Vec<_> = secrets.iter().map(|secret| digest(secret, joined.as_bytes(), &bytes)).collect();
        Ok(Self {
            signature: lines(u, |u| signature::header(u, &good))?,
            event_id: event_id(u, &bytes)?,
            now_ms: now_ms(u, &joined, tolerance)?,
            body,
            timestamp,
            secrets,
            tolerance,
        })
    }
}

/// Usually one line, at times none or two.
fn lines(
    u: &mut Unstructured<'_>,
    line: impl FnOnce(&mut Unstructured<'_>) -> Result<String>,
) -> Result<Vec<String>> {
    if rarely(u, 40)? {
        return Ok(Vec::new());
    }
    let line = line(u)?;
    match line.split_once(',') {
        Some((first, second)) if rarely(u, 4)? => Ok(vec![first.to_owned(), second.to_owned()]),
        _ => Ok(vec![line]),
    }
}

fn secrets(u: &mut Unstructured<'_>) -> Result<Vec<String>> {
    let count = if rarely(u, 60)? { *u.choose(&[0, 9])? } else { *u.choose(&[1, 1, 2, 8])? };
    (0..count)
        .map(|number| {
            let random: u8 = u.arbitrary()?;
            let usable = verify_core::secret::generate([random; 32]);
            let longest = format!("whsec_{}", "~".repeat(506));
            let short = format!("whsec_{number}");
            let wrong = [
                "",
                "whsec_",
                "whsec_ a",
                "whsec_a\n",
                "WHSEC_a",
                "whsec_\u{e9}",
                "whsec_\u{7f}",
                "a",
                &format!("{longest}~"),
            ];
            let secret = mostly(u, 120, &[&usable, &short, &longest, "whsec_!", "whsec_whsec_"], &wrong)?;
            Ok(secret.to_owned())
        })
        .collect()
}

fn body(u: &mut Unstructured<'_>) -> Result<Body> {
    if rarely(u, 100)? {
        return Ok(if u.arbitrary()? { Body::Absent } else { Body::Bytes(Vec::new()) });
    }
    let text = event(u)?;
    if !rarely(u, 4)? {
        return Ok(Body::Bytes(text));
    }
    let mut units: Vec<u16> = String::from_utf8_lossy(&text).encode_utf16().collect();
    if rarely(u, 8)? {
        let at = u.int_in_range(0..=units.len())?;
        units.insert(at, *u.choose(&[0xd800, 0xdc00, 0xdbff, 0xdfff, 0xfeff, 0xffff])?);
    }
    Ok(Body::Text(units))
}

fn timestamp(u: &mut Unstructured<'_>) -> Result<Vec<String>> {
    const ODD: [&str; 16] = [
        "",
        "178826400",
        "17882640000",
        "+178826400",
        "1788264000 ",
        " 1788264000",
        "178826400.",
        "1788264e03",
        "0x17882640",
        "1788264000000",
        "١٧٨٨٢٦٤٠٠٠",
        "１７８８２６４０００",
        "1788_26400",
        "0000000000",
        "9999999999",
        "178826400\n",
    ];
    match u.int_in_range(0..=63)? {
        63 => Ok(Vec::new()),
        62 => Ok(vec![NOW.to_string(), NOW.to_string()]),
        58..=61 => Ok(vec![one_of(u, &ODD)?.to_owned()]),
        57 => Ok(vec![format!("{:010}", u.int_in_range(0..=9_999_999_999_i64)?)]),
        _ => Ok(vec![NOW.to_string()]),
    }
}

/// The clock, near the timestamp and its borders, or anywhere.
fn now_ms(u: &mut Unstructured<'_>, timestamp: &str, tolerance: i64) -> Result<f64> {
    if rarely(u, 60)? {
        return u.choose(&[0.0, -1.0, -999.0, 1e17, -1e17, f64::MAX, f64::MIN, 0.5, 8.64e15]).copied();
    }
    let seconds = timestamp.parse().unwrap_or(NOW);
    let tolerance = tolerance.clamp(1, 3600);
    let offset = if rarely(u, 12)? {
        *u.choose(&[tolerance + 1, -tolerance - 1])?
    } else {
        *u.choose(&[0, 1, -1, tolerance, -tolerance, tolerance - 1, 1 - tolerance])?
    };
    // The milliseconds of a second, and a little more than these, belong to it.
    let within = *u.choose(&[0.0, 999.0, 0.25, 999.75])?;
    Ok((seconds + offset) as f64 * 1000.0 + within)
}

fn event_id(u: &mut Unstructured<'_>, body: &[u8]) -> Result<Vec<String>> {
    let root = verify_reference::Node::parse(body);
    let meant = root.as_ref().and_then(|root| root.text("id")).unwrap_or("evt_1").to_owned();
    match u.int_in_range(0..=63)? {
        63 => Ok(Vec::new()),
        62 => Ok(vec![meant.clone(), meant]),
        61 => Ok(vec![format!("{meant}{}", one_of(u, &[" ", "\t", "\0", "é", "1"])?)]),
        60 => Ok(vec![meant.to_uppercase()]),
        59 => Ok(vec![one_of(u, &["", " ", "evt_2", "evt_\u{e9}"])?.to_owned()]),
        _ => Ok(vec![meant]),
    }
}
