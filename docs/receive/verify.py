"""Verifies a signed webhook with Python's standard library alone. Python 3.8 or newer."""

import hashlib
import hmac
import json
import math
import re
from datetime import date

TOLERANCE = 300  # seconds, in either direction
MAX_BODY = 16 * 1024 * 1024  # bytes


class VerificationError(Exception):
    """The delivery is refused. `code` is one of the fifteen codes."""

    def __init__(self, code):
        super().__init__(code)
        self.code = code


def verify(raw_body, headers, secrets, now):
    """Returns the event, a dict, or raises VerificationError.

    raw_body: the bytes as they came in. headers: a mapping of names to values. secrets: a list of strings, eight at
    most. now: Unix seconds, whole.
    """
    if len(secrets) > 8:
        raise ValueError("at most 8 secrets")
    refuse_unless(not raw_body or len(raw_body) <= MAX_BODY, "invalid_payload")
    refuse_unless(raw_body, "missing_body")
    refuse_unless(secrets and all(matches(secret, r"whsec_[!-~]{1,506}") for secret in secrets), "invalid_secret")
    timestamp = header(headers, "service-timestamp")
    refuse_unless(matches(timestamp, r"[0-9]{10}"), "invalid_timestamp")
    refuse_unless(abs(now - int(timestamp)) <= TOLERANCE, "stale_timestamp")
    signature = header(headers, "service-signature").strip(" \t")
    refuse_unless(signature, "missing_signature")
    refuse_unless(is_signed(signature, timestamp, raw_body, secrets), "invalid_signature")
    try:
        event = parse(raw_body)
    except ValueError:
        raise VerificationError("invalid_json") from None
    check(event)
    refuse_unless(header(headers, "service-event-id") == event["id"], "event_id_mismatch")
    return event


def refuse_unless(condition, code):
    if not condition:
        raise VerificationError(code)


def matches(value, pattern):
    return isinstance(value, str) and re.fullmatch(pattern, value) is not None


def header(headers, name):
    """Several lines of one name count as one value."""
    return ", ".join(value for key, value in headers.items() if key.lower() == name)


def is_signed(signature, timestamp, raw_body, secrets):
    if len(signature) > 16384:
        return False
    found = False
    for secret in secrets:
        digest = hmac.new(secret.encode(), timestamp.encode() + b"." + raw_body, hashlib.sha256)
        expected = b"v1=" + digest.hexdigest().encode()
        for item in signature.split(","):
            # In constant time; and all are compared, whichever is right.
            found |= hmac.compare_digest(item.strip(" \t").encode(errors="replace"), expected)
    return found


class Members(dict):
    """A JSON object that knows whether it had a name twice."""

    def __init__(self, pairs):
        super().__init__(pairs)
        self.repeated = len(self) != len(pairs)


def parse(raw_body):
    """`json.loads`, without what it accepts beyond the contract: UTF-16, NaN, infinite numbers, half characters."""
    text = raw_body.decode("utf-8")
    # Remove every escape but halves of surrogate pairs; then every string. What is left has the brackets.
    unescaped = re.sub(r"\\(?:[^u]|u(?![dD][89a-fA-F])|u[dD][89abAB]..\\u[dD][c-fC-F])", "", text)
    if "\\" in unescaped:
        raise ValueError("half of a surrogate pair")
    depth = 0
    for bracket in re.findall(r"[\[{\]}]", re.sub(r'"[^"]*"', "", unescaped)):
        depth += 1 if bracket in "[{" else -1
        if depth > 127:
            raise ValueError("nested too deeply")
    return json.loads(text, object_pairs_hook=Members, parse_int=finite(int), parse_float=finite(float),
                      parse_constant=finite(float))


def finite(read):
    def read_finite(text):
        if not math.isfinite(float(text)):
            raise ValueError("not a number that a double can hold")
        return read(text)

    return read_finite


def check(event):
    """The members of the envelope, in the order of the codes. Unknown members and unknown types pass."""
    refuse_unless(isinstance(event, Members), "invalid_payload")
    merchant, data = event.get("merchant"), event.get("data")
    refuse_unless(not any(isinstance(part, Members) and part.repeated for part in (event, merchant, data)),
            "invalid_payload")
    for name, is_valid in {"sequence": is_integer, "resource_version": is_integer, "livemode": is_boolean,
                           "recipient": is_object, "links": is_object}.items():
        refuse_unless(event.get(name) is None or is_valid(event[name]), "invalid_payload")
    refuse_unless(matches(event.get("id"), r"evt_[0-9A-Za-z_-]{1,124}"), "invalid_event_id")
    refuse_unless(matches(event.get("type"), r"[a-z][a-z0-9_]*(\.[a-z0-9_]+)+") and len(event["type"]) <= 128,
            "invalid_event_type")
    refuse_unless(is_date(event.get("api_version")), "invalid_api_version")
    refuse_unless(is_time(event.get("created_at")), "invalid_created_at")
    refuse_unless(is_object(merchant) and matches(merchant.get("id"), r"mer_[0-9A-Za-z_-]{1,124}")
            and matches(merchant.get("slug"), r"[^\x00-\x1f\x7f-\x9f]{1,128}"), "invalid_merchant")
    refuse_unless(is_object(data) and is_object(data.get("object")), "invalid_data")


def is_object(value):
    return isinstance(value, dict)


def is_boolean(value):
    return isinstance(value, bool)


def is_integer(value):
    return type(value) in (int, float) and value == int(value) and 0 <= value < 2**53


def is_date(value):
    try:
        return matches(value, r"[0-9]{4}-[0-9]{2}-[0-9]{2}") and bool(date.fromisoformat(value))
    except ValueError:
        return False


def is_time(value):
    return matches(value, r".{10}T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]\.[0-9]{3}Z") and is_date(value[:10])
