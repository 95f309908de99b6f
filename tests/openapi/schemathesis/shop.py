"""A merchant in business: records in many states, made through the APIs, so that requests find something.

`open_shop` makes a merchant with keys of several kinds and trades: orders paid and not, shipped, refunded and cancelled,
checkouts, subscriptions, endpoints that take and that refuse what they are sent, checkpoints, external references, and
partners with whom orders are shared in both directions. It returns what hooks fill requests with:

- `ids`: for each kind of record, the ids there are. Kinds are called as path parameters are; `order:unpaid` are those
  orders that are, and so on;
- `home`: the merchant all this belongs to;
- `others`: keys that may not do everything, or not here.
"""

import itertools

import requests

from authority import Authority, Receiver

MODE = "test"
SCOPES = [
    "orders:read", "orders:write", "shipments:write", "payments:read", "refunds:read", "refunds:write",
    "subscriptions:read", "events:read", "webhooks:manage", "sync:read", "sync:write", "partners:read", "partners:write",
]  # fmt: skip
LINES = [{"sku": "TSHIRT-M", "name": "T-shirt", "quantity": 2, "unit_amount": 2400}]
# As in the document's examples: 5300 in all.
ORDER = {"currency": "USD", "line_items": LINES, "shipping": 500}
FREE = {"currency": "USD", "line_items": [{**LINES[0], "unit_amount": 0}]}
SUBSCRIPTION = {
    "customer": {"reference": "c-77"}, "currency": "USD", "interval": "month",
    "items": [{"name": "Coffee", "quantity": 1, "unit_amount": 1900}],
}  # fmt: skip
LONG_AGO = "2026-01-01T00:00:00.000Z"
COUNT = itertools.count(1)


class Caller:
    """Asks one API with one key, and stops at an answer that does not grant what was asked."""

    def __init__(self, base: str, key: str):
        self._base = base
        self._session = requests.Session()
        self._session.headers["Authorization"] = f"Bearer {key}"

    def ask(self, method: str, path: str, body=None) -> requests.Response:
        return self._session.request(method, self._base + path, json=body, timeout=30)

    def __call__(self, method: str, path: str, body=None) -> dict:
        response = self.ask(method, path, body)
        if not response.ok:
            raise SystemExit(f"{method} {path}: {response.status_code} {response.text}")
        return response.json()


class Merchant:
    """One merchant, with a test key that may everything, and its APIs."""

    def __init__(self, authority: Authority):
        self.name = f"shop-{next(COUNT)}"
        self.authority = authority
        self.operator = Caller(f"{authority.operator_api}/v1/operator", authority.operator_key)
        settings = {"slug": self.name, "name": self.name, "default_currency": "USD"}
        self.id = self.operator("POST", "/merchants", settings)["id"]
        self.key = self.issue(MODE, SCOPES)["key"]
        self.api = Caller(f"{authority.merchant_api}/v1/merchant", self.key)
        self.sandbox = Caller(f"{authority.merchant_api}/v1/sandbox", self.key)

    def issue(self, mode: str, scopes: list[str]) -> dict:
        """A key."""
        wanted = {"name": self.name, "mode": mode, "scopes": scopes}
        return self.operator("POST", f"/merchants/{self.id}/api-keys", wanted)

    def order(self, pay: str) -> str:
        """An order, paid or not; its number."""
        return self.sandbox("POST", "/orders", {**ORDER, "pay": pay})["order_number"]

    def listed(self, path: str) -> list[dict]:
        """The first page of a list."""
        return self.api("GET", path)["data"]

    def ids(self, path: str) -> list[str]:
        return [item["id"] for item in self.listed(path)]


def open_shop(authority: Authority, receiver: Receiver) -> dict:
    """Makes everything, and tells of it."""
    shop = Merchant(authority)
    endpoints = _endpoints(shop, receiver)
    trade = _trade(shop)
    partners = _partners(shop, [Merchant(authority) for _ in range(8)])
    orders = shop.listed("/orders?limit=100")
    _positions(shop, orders[:5])
    recovery = _recovery(shop, *endpoints["endpoint:silent"])
    shop.operator.ask("POST", "/sink", {"url": receiver.url(200), "enabled_events": ["refund.*"]})
    records = {
        "system": ["erp", "wms"],
        "order": [order["order_number"] for order in orders],
        "line": [order["line_items"][0]["id"] for order in orders],
        "payment": shop.ids("/payments"),
        "refund": shop.ids("/refunds"),
        "event": shop.ids("/events"),
        "merchant": [Merchant(authority).id for _ in range(5)],
        "key": [shop.issue(MODE, SCOPES)["id"] for _ in range(10)],
        "alert": _alerts(shop),
        "delivery:failed": _failed(shop, endpoints["endpoint"]),
        "mode": [MODE],
        "file": ["start.js"],
        "customer": ["c-77"],
        "url": [receiver.url(status) for status in (200, 204, 400, 500)],
    }
    others = [
        shop.issue(MODE, ["orders:read"])["key"], shop.issue("live", SCOPES)["key"], Merchant(authority).key,
        authority.operator_key, authority.readers_key, "svc_test_nothing",
    ]  # fmt: skip
    return {"ids": {**records, **endpoints, **trade, **partners, **recovery}, "home": shop.id, "key": shop.key, "others": others}


def _endpoints(shop: Merchant, receiver: Receiver) -> dict:
    """Made first, so that they are told of all that happens, but for two that are switched off."""
    urls = [receiver.url(status) for status in (200, 500, 410)] + [receiver.silent()]
    made = [shop.api("POST", "/webhook-endpoints", {"url": url})["id"] for url in urls]
    for endpoint in made[2:]:
        shop.api("PATCH", f"/webhook-endpoints/{endpoint}", {"status": "disabled"})
    return {"endpoint": made[:-1], "endpoint:enabled": made[:2], "endpoint:silent": made[-1:]}


def _recovery(shop: Merchant, silent: str) -> dict:
    """What an endpoint missed while it was switched off is recovered. Its receiver never answers: that takes long."""
    shop.api("PATCH", f"/webhook-endpoints/{silent}", {"status": "enabled"})
    begun = shop.api("POST", f"/webhook-endpoints/{silent}/recover", {"since": LONG_AGO})["id"]
    return {"recovery": [begun], "recovery:running": [begun]}


def _trade(shop: Merchant) -> dict:
    """Orders in many states, with what belongs to them."""
    unpaid = [shop.order("none") for _ in range(20)]
    shop.order("authorized")
    shop.sandbox("POST", f"/orders/{shop.order('none')}/cancel", {"reason": "customer_request"})
    shipments, refunds = [], []
    paid = [shop.order("paid") for _ in range(20)]
    for number, order in enumerate(paid[:6]):
        parcel = {"carrier": "dhl", "tracking_number": f"JD{number}"}
        shipments.append(shop.api("POST", f"/orders/{order}/shipments", parcel)["id"])
        refunds.append(shop.api("POST", f"/orders/{order}/refunds", {"amount": 100, "reason": "damaged"})["id"])
    for refund, to in zip(refunds, ("processing", "completed", "failed")):
        shop.sandbox("POST", f"/refunds/{refund}/advance", {"to": to})
    subscriptions = [shop.sandbox("POST", "/subscriptions", SUBSCRIPTION)["id"] for _ in range(6)]
    for subscription, step in zip(subscriptions, ({"renew": True}, {"to": "paused"}, {"to": "cancelled"})):
        shop.sandbox("POST", f"/subscriptions/{subscription}/advance", step)
    return {
        "order:unpaid": unpaid, "order:paid": paid[6:], "shipment": shipments, "subscription": subscriptions,
        "checkout": [shop.sandbox("POST", "/checkouts", ORDER)["id"] for _ in range(20)],
        "checkout:free": [shop.sandbox("POST", "/checkouts", FREE)["id"] for _ in range(20)],
    }  # fmt: skip


def _partners(shop: Merchant, partners: list[Merchant]) -> dict:
    """Connected, with an order shared in each direction; invitations that are open."""
    connections, given, taken = [], [], []
    for partner in partners:
        invited = shop.api("POST", "/partner-connections", {"label": "theirs"})
        partner.api("POST", "/partner-connections/accept", {"invite_code": invited["invite_code"]})
        connections.append(invited["id"])
        for owner, shares in ((shop, given), (partner, taken)):
            terms = {"connection_id": invited["id"], "include_amounts": True}
            shares.append(owner.api("POST", f"/orders/{owner.order('paid')}/shares", terms)["id"])
    pending = [shop.api("POST", "/partner-connections", {"label": "open"})["id"] for _ in range(4)]
    codes = []
    for _ in range(12):
        other = Merchant(shop.authority)
        codes.append(other.api("POST", "/partner-connections", {"label": "more"})["invite_code"])
    return {
        "connection": [*connections, *pending], "connection:active": connections, "invite_code": codes,
        "share": given, "share:taken": taken,
    }  # fmt: skip


def _positions(shop: Merchant, orders: list[dict]) -> None:
    """Checkpoints of both streams, and orders that other systems know."""
    for stream, path in (("events", "/events?limit=5"), ("orders", "/sync/orders?limit=5")):
        cursor = shop.api("GET", path)["resume_cursor"]
        shop.api("POST", "/sync/checkpoints", {"name": f"reader-{stream}", "stream": stream, "cursor": cursor})
    for order in orders:
        for system in ("erp", "wms"):
            known = {"id": f"{system}-{order['order_number']}", "url": "https://erp.example.com/orders"}
            shop.api("PUT", f"/orders/{order['order_number']}/external-references/{system}", known)


def _alerts(shop: Merchant) -> list[str]:
    """Reports that contradict what is recorded are refused, and the operator is told."""
    for payment in shop.listed("/payments?status=succeeded&limit=20"):
        report = {"processor_event_id": f"late-{payment['id']}", "status": "failed", "failure": {"code": "late"}}
        shop.operator.ask("POST", f"/payments/{payment['id']}/reports", report)
    return [alert["id"] for alert in shop.operator("GET", "/alerts")["data"]]


def _failed(shop: Merchant, endpoints: list[str]) -> list[str]:
    """Deliveries that were given up."""
    lists = [shop.ids(f"/webhook-endpoints/{endpoint}/deliveries?status=failed") for endpoint in endpoints]
    return list(itertools.chain(*lists))
