"""Which values go where: existing ids into paths, queries and bodies, and what else a request needs to be granted.

A `Pool` holds ids by kind, from the shop and from answers; a bounded number of each, so that records are met in their
later states too. A `Filler` fills one request with them, by dice of its own. It always leaves some of what was generated.
"""

import collections
import threading

# By the prefixes of ids (contract 1.1).
KINDS = {
    "chk": "checkout", "pay": "payment", "rfd": "refund", "sub": "subscription", "shp": "shipment", "li": "line",
    "evt": "event", "we": "endpoint", "dlv": "delivery", "rcv": "recovery", "mer": "merchant", "key": "key",
    "alt": "alert", "pcn": "connection", "osh": "share",
}  # fmt: skip
# Members of queries and bodies that name a record, and what kind it is of.
NAMES = {
    "order_number": "order", "checkout_id": "checkout", "payment_id": "payment", "subscription_id": "subscription",
    "line_item_id": "line", "event_id": "event", "endpoint_id": "endpoint", "endpoint_ids": "endpoint:enabled",
    "connection_id": "connection", "merchant": "merchant", "key_id": "key", "resource_id": "payment", "resource": "order",
    "invite_code": "invite_code", "external_system": "system", "customer_reference": "customer",
}  # fmt: skip
# Operations that are granted for records in a certain state alone, by a part of their names.
STATES = {
    "/deliveries/{delivery}/retry": {"delivery": "delivery:failed"},
    "/endpoint-recoveries/{recovery}/cancel": {"recovery": "recovery:running"},
    "/orders/{order}/pay": {"order": "order:unpaid"},
    "/orders/{order}/confirm": {"order": "order:unpaid"},
    "/orders/{order}/refunds": {"order": "order:paid"},
    "/orders/{order}/shipments": {"order": "order:paid"},
    "/orders/{order}/shares": {"connection": "connection:active"},
    "/{mode}/payments": {"order": "order:unpaid"},
    "/checkouts/{checkout}/complete": {"checkout": "checkout:free"},
    "/checkouts/{checkout}/pay": {"checkout": "checkout:open"},
    "/events/{event}/replay": {"endpoint": "endpoint:enabled"},
    "/webhook-endpoints/{endpoint}/test": {"endpoint": "endpoint:enabled"},
    "/webhook-endpoints/{endpoint}/recover": {"endpoint": "endpoint:silent"},
    "/partner-orders/{share}": {"share": "share:taken"},
}
# Members that tell of a record's state.
TELLING = ("status", "payment_status")
# A text of these must be unique, or it is of something else.
FRESH = ("slug", "processor_event_id", "tracking_number")
# What a checkpoint is a position in.
STREAMS = {"events": "GET /v1/merchant/events", "orders": "GET /v1/merchant/sync/orders"}
CURRENCIES = ("USD", "USD", "USD", "EUR", "JPY", "KWD")
KEPT_PER_KIND = 400
CURSORS_PER_LIST = 40


class Pool:
    """Ids by kind, and cursors by list, with the filters that go with them."""

    def __init__(self, ids):
        self._ids = {kind: collections.deque(known, KEPT_PER_KIND) for kind, known in ids.items()}
        self._cursors = collections.defaultdict(lambda: collections.deque(maxlen=CURSORS_PER_LIST))
        self._lock = threading.Lock()

    def any(self, kind, dice):
        """One of a kind; `None` when there is none."""
        with self._lock:
            known = self._ids.get(kind)
            return dice.choice(known) if known else None

    def page(self, label, dice):
        """The query of a further page of a list; `None` when none is known."""
        with self._lock:
            known = self._cursors.get(label)
            return dict(dice.choice(known)) if known else None

    def learn(self, label, query, answer):
        """What an answer tells of."""
        with self._lock:
            self._learn(answer)
            if isinstance(answer, dict):
                filters = {name: value for name, value in query.items() if name not in ("limit", "cursor")}
                cursors = [answer[name] for name in ("next_cursor", "resume_cursor") if name in answer]
                self._cursors[label].extend({**filters, "cursor": cursor} for cursor in cursors)

    def _learn(self, value):
        for member in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
            self._learn(member)
        if not isinstance(value, dict):
            return
        if value.get("object") == "order":
            kind, known = "order", value.get("order_number")
        else:
            known = value.get("id")
            kind = KINDS.get(known.split("_")[0]) if isinstance(known, str) else None
        self._add(kind, known)
        for state in (value.get(name) for name in TELLING):
            if isinstance(state, str):
                self._add(kind and f"{kind}:{state}", known)
        self._add("invite_code", value.get("invite_code"))

    def _add(self, kind, known):
        if kind and known:
            kept = self._ids.setdefault(kind, collections.deque(maxlen=KEPT_PER_KIND))
            if known not in kept:
                kept.append(known)


class Filler:
    """Fills one request of the operation that is called `label`."""

    def __init__(self, pool, dice, label, home):
        self._pool, self._dice, self._label, self._home = pool, dice, label, home
        self._states = next((states for part, states in STATES.items() if label.endswith(part)), {})

    def _often(self, share):
        return self._dice.random() < share

    def _known(self, kind, otherwise, share):
        """One of this kind, mostly in the state that the operation is for."""
        if kind is None or not self._often(share):
            return otherwise
        wanted = self._states.get(kind) if self._often(0.9) else None
        found = self._pool.any(wanted, self._dice) if wanted else None
        found = found or self._pool.any(kind, self._dice)
        return otherwise if found is None else found

    def path(self, parameters):
        """Ids in a path: mostly of records that exist, and where a merchant is named, mostly of the one they belong to."""
        filled = {name: self._known(name, value, 0.9) for name, value in parameters.items()}
        if "mode" in filled and self._often(0.9):
            filled["merchant"] = self._home
        return filled

    def query(self, parameters):
        """Ids and cursors in a query. A cursor that no list gave out is refused, and one goes with its filters."""
        if "cursor" in parameters:
            page = self._pool.page(self._label, self._dice) if self._often(0.5) else None
            if page is not None:
                return page
            if self._often(0.8):
                parameters = {name: value for name, value in parameters.items() if name != "cursor"}
        return {name: self._known(NAMES.get(name), value, 0.6) for name, value in parameters.items()}

    def headers(self, headers):
        """A version that is not the present one is refused: mostly it is any, or none. So is a key that was used before."""
        if "If-Match" in headers and self._often(0.75):
            if self._often(0.5):
                del headers["If-Match"]
            else:
                headers["If-Match"] = "*"
        if "If-None-Match" in headers and self._often(0.7):
            headers["If-None-Match"] = f'"{self._dice.randint(1, 4)}"'
        if not headers.get("Idempotency-Key", '"').startswith('"') and self._often(0.8):
            headers["Idempotency-Key"] = f"{headers['Idempotency-Key'][:40]}-{self._dice.getrandbits(60):x}"

    def body(self, body, example):
        """What was generated, or what the document shows with some of it; with ids that exist."""
        if example is not None and self._often(0.6):
            body = {**example, **{name: value for name, value in body.items() if self._often(0.2)}}
        if self._label.endswith("/sandbox/seed") and self._often(0.95):
            # A thousand orders say no more than ten, and fill the database.
            body["orders"] = self._dice.randint(1, 10)
        if self._label.endswith("/sandbox/clock") and self._often(0.95):
            # Days would end every open checkout, and nothing could be paid any more.
            body["advance_seconds"] = self._dice.randint(1, 10)
        stream = body.get("stream", "events")
        return self.addresses({name: self._member(name, value, stream) for name, value in body.items()})

    def addresses(self, body):
        """The address of an endpoint is always the receiver's: nothing leaves this machine."""
        url = body.get("url")
        if "external-references" not in self._label and isinstance(url, str) and url.lower().startswith("http"):
            return {**body, "url": self._pool.any("url", self._dice)}
        return body

    def _member(self, name, value, stream=None):
        if isinstance(value, dict):
            return {inner: self._member(inner, member) for inner, member in value.items()}
        if isinstance(value, list):
            return [self._member(name, item) for item in value]
        if not isinstance(value, str):
            return value
        if name == "cursor":
            page = self._pool.page(STREAMS.get(stream), self._dice) if self._often(0.9) else None
            return page["cursor"] if page else value
        if name == "currency" and self._often(0.9):
            return self._dice.choice(CURRENCIES)
        if name == "country" and self._often(0.9):
            return "GB"
        if name in FRESH and self._often(0.8):
            return f"{name[0]}-{self._dice.getrandbits(60):x}"
        return self._known(NAMES.get(name), value, 0.85)
