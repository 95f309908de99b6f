//! The closed set of causes, each with its code and its fix.
//!
//! The fix is one text per cause, for receivers of every kind; what is particular to one delivery stands in the
//! evidence.

use core::fmt;

macro_rules! causes {
    ($($(#[$doc:meta])* $variant:ident = $name:literal => $fix:literal),* $(,)?) => {
        /// Why a delivery was probably not accepted.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Cause {
            $($(#[$doc])* $variant,)*
        }

        impl Cause {
            /// Every cause, in the order of the codes that they explain.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// The cause as it is written to outputs and JavaScript.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// What to do about it.
            #[must_use]
            pub const fn fix(self) -> &'static str {
                match self { $(Self::$variant => $fix,)* }
            }
        }
    };
}

causes! {
    /// There is no body, because something had read it before.
    BodyConsumed = "body_consumed" =>
        "Read the raw body once, before any parser does, and hand in those bytes: the adapter of your framework, express.raw() on this route, or the request's chunks collected up to a bound.",
    /// The request had no body.
    BodyNotSent = "body_not_sent" =>
        "Check that the request is the POST of a delivery, and that no redirect or proxy on the way drops its body.",

    /// No secret is configured.
    SecretMissing = "secret_missing" =>
        "Set the environment variable or secret binding that holds the endpoint's signing secret where the receiver runs, and check its name.",
    /// Blanks or line ends around a secret.
    SecretBlanks = "secret_blanks" =>
        "Store the secret without a line end or blanks around it (printf instead of echo, a trimmed file), or trim it when you read it.",
    /// Quotation marks around a secret.
    SecretQuoted = "secret_quoted" =>
        "Remove the quotation marks: whatever reads your environment file keeps them as part of the value.",
    /// A secret without `whsec_`.
    SecretPrefixMissing = "secret_prefix_missing" =>
        "Configure the whole secret as it was shown, whsec_ included; nothing is cut off and nothing decoded.",
    /// Blanks or other impossible characters in a secret, or far too many.
    SecretCharacters = "secret_characters" =>
        "Copy the secret again: it is whsec_ and visible ASCII characters, at most 512 in all.",
    /// Characters of a secret are missing, here or at the sender.
    SecretCutOff = "secret_cut_off" =>
        "Copy the whole secret again: it is whsec_ and 43 characters, or 44 for an endpoint with the profile standard-webhooks. A selection by double click, a column that is too narrow, or a shell that reads $ cuts it off.",
    /// A secret whose letters are in another case.
    SecretCase = "secret_case" =>
        "Copy the secret again as it was shown, and change no letter's case: some stores of settings write values in one case.",
    /// Characters behind a secret that do not belong to it.
    SecretStrayEnd = "secret_stray_end" =>
        "Remove what stands behind the secret: a quotation mark, comma or semicolon, or a line end written as backslash and n.",

    /// The header is there under another name.
    HeaderRenamed = "header_renamed" =>
        "Hand in the headers under their own names (Service-Timestamp, Service-Signature, Service-Event-Id, in any letter case), not those of CGI variables or of a proxy.",
    /// Some of the delivery's headers arrived, this one did not.
    HeaderDropped = "header_dropped" =>
        "Look what stands before the receiver (proxy, gateway, firewall, function platform) and let all headers that begin with Service- pass.",
    /// None of the delivery's headers are there.
    NotADelivery = "not_a_delivery" =>
        "Hand in the headers of the request itself (request.headers). If they are, the request is not a delivery of this service: a health check, a browser, or another service's webhook.",
    /// The header is there, without a value.
    HeaderBlank = "header_blank" =>
        "Find what empties the header's value on the way, or in the test that sends it.",
    /// Several lines of one header.
    HeaderRepeated = "header_repeated" =>
        "Send the header once. A proxy that adds a line of its own, or a test client that appends instead of setting, makes two.",

    /// A timestamp in milliseconds or finer.
    TimestampUnit = "timestamp_unit" =>
        "Write Unix seconds, ten digits: Math.floor(Date.now() / 1000). The signature is over this very text, so it has to be made anew.",
    /// A date where seconds were expected.
    TimestampDate = "timestamp_date" =>
        "Write Unix seconds, ten digits, instead of a date.",
    /// Any other text that is not ten digits.
    TimestampForm = "timestamp_form" =>
        "Send Unix seconds as exactly ten digits, without sign, fraction, quotation marks or blanks.",
    /// The verifier's own time is in the wrong unit.
    NowUnit = "now_unit" =>
        "Give the time in the unit that is asked for: milliseconds in JavaScript (now: () => Date.now()), seconds on the command line and in Rust.",
    /// Off by whole hours.
    TimeZone = "time_zone" =>
        "Take Unix time, which has no zone, instead of local time read as UTC; on Windows and in virtual machines check the zone of the hardware clock.",
    /// A recording played back, or a delivery held up for long.
    OldDelivery = "old_delivery" =>
        "In a test with a recorded delivery, pass the time of the recording as now, or sign the body anew. In service, verify when the request arrives and queue afterwards: each attempt is signed with its own time.",
    /// The clocks differ, or the delivery was held up.
    ClockSkew = "clock_skew" =>
        "Synchronise the receiver's clock (NTP). If it is right, something holds requests up before they are verified.",

    /// Hexadecimal digits in capitals.
    SignatureUppercase = "signature_uppercase" =>
        "Write the digest in lowercase hexadecimal digits; what is compared are the characters.",
    /// The digest in base64.
    SignatureBase64 = "signature_base64" =>
        "Write the digest in lowercase hexadecimal digits instead of base64: digest(\"hex\").",
    /// A digest without `v1=`.
    SignaturePrefixMissing = "signature_prefix_missing" =>
        "Write v1= in front of the 64 digits, and hand in the header's value as it is.",
    /// Quotation marks around a signature.
    SignatureQuoted = "signature_quoted" =>
        "Remove the quotation marks from the header's value.",
    /// Several signatures that are not separated by commas, or blanks inside.
    SignatureSeparator = "signature_separator" =>
        "Separate signatures with commas, and leave no blank inside v1=<digits>.",
    /// Fewer than 64 digits.
    SignatureCutOff = "signature_cut_off" =>
        "Find what shortens the header (a column, a log, a proxy's limit), and hand in its whole value: v1= and 64 digits.",
    /// Signatures of other schemes only.
    SignatureScheme = "signature_scheme" =>
        "Sign with scheme v1: HMAC-SHA256 over timestamp, full stop and body, as v1= and 64 lowercase hexadecimal digits.",
    /// The header is longer than is looked at.
    SignatureTooLong = "signature_too_long" =>
        "Find what fills the header: at most 16384 bytes of it are looked at.",
    /// No signature in any form that is known.
    SignatureForm = "signature_form" =>
        "Hand in the value of Service-Signature as it arrived: v1= and 64 lowercase hexadecimal digits, several separated by commas.",

    /// Another of the secrets that were handed in for comparison.
    OtherSecret = "other_secret" =>
        "Configure the secret that signed this delivery, or hand in both during a rotation: new Verifier([newest, previous]).",
    /// The sender's key was decoded from the secret.
    KeyDecoded = "key_decoded" =>
        "Take the UTF-8 bytes of the whole secret, whsec_ included, as the HMAC key; do not decode it.",
    /// The secret, or what follows `whsec_`, is in base64, hexadecimal or percent signs, here or at the sender.
    KeyEncoded = "key_encoded" =>
        "Configure and use the secret exactly as it was shown, as text: encode nothing of it (some stores of secrets hand out base64).",
    /// The sender's key leaves out `whsec_`.
    KeyWithoutPrefix = "key_without_prefix" =>
        "Take the whole secret, whsec_ included, as the HMAC key.",
    /// The sender signed another string than timestamp, full stop and body.
    SignedOtherString = "signed_other_string" =>
        "Sign the timestamp's ten digits, a full stop and the exact body, in this order.",

    /// The same JSON, written differently.
    BodyReserialized = "body_reserialized" =>
        "Verify the raw bytes of the request. The body was parsed and written again (JSON.parse and JSON.stringify, json.loads and json.dumps): take it before any JSON parser, or from the framework's raw body.",
    /// A line end at the body's end, added or removed.
    BodyNewline = "body_newline" =>
        "Hand in the body byte by byte as it arrived, without adding or trimming a line end (files saved by editors, shell variables and readline do).",
    /// LF and CR LF exchanged.
    BodyLineEndings = "body_line_endings" =>
        "Read and store the body in binary mode, so that nothing converts line ends (git, text mode, FTP).",
    /// A byte order mark, added or removed.
    BodyBom = "body_bom" =>
        "Take the body as bytes. Text decoders drop a byte order mark, and some editors add one.",
    /// Blanks or zero bytes around the body, added or removed.
    BodyTrimmed = "body_trimmed" =>
        "Hand in exactly the bytes that arrived: do not trim the text, and cut a buffer to the length that was read.",
    /// UTF-8 read as another character set, or the other way round.
    BodyCharset = "body_charset" =>
        "Take the body as bytes, or decode and encode it as UTF-8 both times.",
    /// Bytes were lost in decoding.
    BodyDecodedLossy = "body_decoded_lossy" =>
        "Collect the body as bytes (Buffer.concat(chunks), not text += chunk): text decoded piece by piece breaks characters that span two pieces.",
    /// The JSON text inside a JSON string.
    BodyStringified = "body_stringified" =>
        "The body went through JSON.stringify although it was text already. Hand in the text, or better the bytes.",
    /// A buffer that was written as JSON.
    BodyBufferJson = "body_buffer_json" =>
        "A Buffer was turned into JSON on its way ({\"type\":\"Buffer\",\"data\":…}). Hand in the Buffer itself.",
    /// The body in base64.
    BodyBase64 = "body_base64" =>
        "Decode the body first: function platforms hand bodies over in base64 (AWS Lambda: isBase64Encoded), Buffer.from(body, \"base64\").",
    /// An object that was turned into text.
    BodyObjectText = "body_object_text" =>
        "The body was a parsed object and was turned into text with String(). Hand in the raw bytes from before the JSON parser.",
    /// A body that a form parser has handled.
    BodyFormEncoded = "body_form_encoded" =>
        "Keep form parsers (express.urlencoded()) away from this route, and send the body as application/json without encoding it.",
    /// A compressed body, or one that was decompressed.
    BodyCompressed = "body_compressed" =>
        "The service signs and sends uncompressed bytes: let nothing on the way compress the request, or undo it before verification.",
    /// Fewer bytes than were announced.
    BodyCutOff = "body_cut_off" =>
        "Wait for the end of the request before verifying, and raise the limit of whatever cuts the body.",
    /// Another number of bytes than was announced.
    BodyLengthDiffers = "body_length_differs" =>
        "Hand in the raw bytes of the request: what was handed in is not what arrived.",
    /// The body is too large to try changes of it.
    BodyTooLarge = "body_too_large" =>
        "Try again with a body of at most 1 MiB; events of this service are at most 256 KiB.",
    /// The body is longer than the verifier's bound.
    BodyOverLimit = "body_over_limit" =>
        "Bound what the receiver collects: events of this service are at most 256 KiB. If you do mean to verify longer bodies, raise maxBodyBytes.",
    /// Nothing that is known fits.
    OtherSecretOrBytes = "other_secret_or_bytes" =>
        "Compare the last three characters of the secret with the hint that the endpoint shows (live and test mode, and every endpoint, have secrets of their own), and the body with the bytes on the wire. Earlier secrets can be handed in for comparison.",

    /// A byte order mark before the JSON text.
    JsonBom = "json_bom" =>
        "The sender signed a body with a byte order mark. JSON is sent without one.",
    /// Not UTF-8.
    JsonUtf8 = "json_utf8" =>
        "The sender signed bytes that are not UTF-8. Encode the JSON text as UTF-8.",
    /// The text ends too early.
    JsonCutOff = "json_cut_off" =>
        "The sender signed an incomplete JSON text. Sign the whole body.",
    /// Something behind the value.
    JsonTrailing = "json_trailing" =>
        "The sender signed more than one JSON text. Send exactly one object.",
    /// Not the grammar of JSON.
    JsonSyntax = "json_syntax" =>
        "The sender signed a text that is not JSON (RFC 8259: no comments, trailing commas, single quotes or NaN). Write the body with a JSON library.",
    /// Nested too deeply.
    JsonDepth = "json_depth" =>
        "At most 127 nested containers are accepted.",
    /// Half of a surrogate pair.
    JsonSurrogate = "json_surrogate" =>
        "A \\u escape holds half of a surrogate pair, usually a text that was cut between two units. Cut texts between characters.",
    /// A number no double can hold.
    JsonNumber = "json_number" =>
        "A number is beyond the range of a double. Send it as a string.",

    /// The root is not an object.
    PayloadNotObject = "payload_not_object" =>
        "Send the event object itself, not a list or a string that holds it.",
    /// A name occurs twice.
    MemberRepeated = "member_repeated" =>
        "Write every member of the event, of merchant and of data once.",
    /// A required member is absent.
    MemberMissing = "member_missing" =>
        "Add the member: events are accepted only with all that the envelope requires.",
    /// A member has the wrong type.
    MemberType = "member_type" =>
        "Write the member with the type that is expected.",
    /// A member breaks its rule.
    MemberForm = "member_form" =>
        "Write the member in the form that is expected.",

    /// Quotation marks around the event id.
    EventIdQuoted = "event_id_quoted" =>
        "Remove the quotation marks from the value of Service-Event-Id.",
    /// The header holds another id than the body.
    EventIdDiffers = "event_id_differs" =>
        "Send the id of the body in Service-Event-Id. If both come from one request, its headers belong to another delivery or to another id (Service-Delivery-Id).",
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
