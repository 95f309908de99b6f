"""The public library of Standard Webhooks for Python, as it is published, verifies what an authority sends to an endpoint
with that profile (contract 15.12).

`conformance.py` calls `faults` once for each database. A receiver of its own takes a first attempt, which it refuses, and
the retry, while two secrets are valid; then a test, when the older one is retired.
"""

import queue
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from standardwebhooks import Webhook, WebhookVerificationError

from authority import Authority
from shop import Merchant

WAIT_S = 30


class _Receiver:
    """Keeps what arrives, and answers the first request with 500."""

    def __init__(self):
        arrivals = self._arrivals = queue.Queue()
        statuses = iter([500])

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):  # noqa: N802, the base class calls it so
                body = self.rfile.read(int(self.headers["content-length"]))
                self.send_response(next(statuses, 200))
                self.send_header("content-length", "0")
                self.end_headers()
                arrivals.put((dict(self.headers.items()), body))

            def log_message(self, *_):
                """Says nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self._server.server_port}/hook"

    def next(self) -> tuple[dict, bytes]:
        return self._arrivals.get(timeout=WAIT_S)

    def end(self) -> None:
        self._server.shutdown()
        self._server.server_close()


def _verifies(secret: str, headers: dict, body: bytes) -> bool:
    try:
        return Webhook(secret).verify(body, headers)["id"] == headers["webhook-id"]
    except WebhookVerificationError:
        return False


def faults(authority: Authority) -> list[str]:
    """What is wrong; nothing, as it should be."""
    merchant, receiver = Merchant(authority), _Receiver()
    wanted = {"url": receiver.url, "enabled_events": ["checkout.*"], "signature_profile": "standard-webhooks"}
    made = merchant.api("POST", "/webhook-endpoints", wanted)
    path = f"/webhook-endpoints/{made['id']}"
    old, new = made["secret"], merchant.api("POST", f"{path}/rotate-secret", {})["secret"]
    merchant.api("POST", f"{path}/test", {})
    found = []
    for attempt in ("the first attempt", "the retry"):
        headers, body = receiver.next()
        if headers["webhook-id"] != headers["service-event-id"] or headers["webhook-timestamp"] != headers["service-timestamp"]:
            found.append(f"{attempt}: the two sets of headers differ")
        for name, secret in (("new", new), ("old", old)):
            if not _verifies(secret, headers, body):
                found.append(f"{attempt} does not verify with the {name} secret")
            if _verifies(secret, headers, body.replace(b"webhook.test", b"webhook.tEst")):
                found.append(f"{attempt}, altered, verifies with the {name} secret")
            if _verifies(secret, {**headers, "webhook-id": "evt_1"}, body):
                found.append(f"{attempt} verifies under another id with the {name} secret")
    merchant.api("POST", f"{path}/retire-secret", {})
    merchant.api("POST", f"{path}/test", {})
    headers, body = receiver.next()
    verdicts = [_verifies(secret, headers, body) for secret in (new, old)]
    if verdicts != [True, False]:
        found.append(f"after the rotation the new and the old secret verify: {verdicts}")
    merchant.api("DELETE", path)
    receiver.end()
    return [f"standardwebhooks: {fault}" for fault in found]
