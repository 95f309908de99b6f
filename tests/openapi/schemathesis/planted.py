"""Faults planted in a document, to see that each of the checks bites.

Each stands in another operation: an answer that is not declared, a media type, a header and a member that the service does
not send. schemathesis must find the four, each in its place, and nothing else.
"""

import copy

ORDER, PAYMENT, SHIPMENT, SUBSCRIPTION = OPERATIONS = (
    "/v1/merchant/orders/{order}",
    "/v1/merchant/payments/{payment}",
    "/v1/merchant/shipments/{shipment}",
    "/v1/merchant/subscriptions/{subscription}",
)
FAULTS = {
    ("Undocumented status code", f"GET {ORDER}"),
    ("Undocumented Content-Type", f"GET {PAYMENT}"),
    ("Missing required response headers", f"GET {SHIPMENT}"),
    ("Response violates schema", f"GET {SUBSCRIPTION}"),
}


def document(served: dict) -> dict:
    """The document with the faults."""
    planted = copy.deepcopy(served)
    answers = {path: planted["paths"][path]["get"]["responses"] for path in OPERATIONS}
    del answers[ORDER]["404"]
    answers[PAYMENT]["200"]["content"] = {"text/plain": {"schema": {"type": "string"}}}
    answers[SHIPMENT]["200"]["headers"]["Nothing"] = {"required": True, "schema": {"type": "string"}}
    schema = {"type": "object", "required": ["nothing"]}
    answers[SUBSCRIPTION]["200"]["content"]["application/json"]["schema"] = schema
    return planted


def overlooked(report: dict) -> list[str]:
    """What is wrong with the report on that document."""
    found = {(failure["title"], label) for failure in report["failures"] for label in failure["operations"]}
    missed = [f"a planted fault was not found: {fault}" for fault in sorted(FAULTS - found)]
    # One fault may be found by more than one check.
    places = {label for _, label in FAULTS}
    return missed + [f"found, and not planted: {fault}" for fault in sorted(found) if fault[1] not in places]
