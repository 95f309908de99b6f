"""What schemathesis is given to work with: records that exist, bodies that can be granted, keys that may and may not.

Alone, a generator of random requests is told 404 and 422 by most operations, and their other answers are never compared
with the document. So before a request is sent, `before_call` replaces some of what was generated (`filling.py`). It leaves
alone what was made wrong on purpose; schemathesis knows which parts are. What it chooses follows from the request and the
seed, so that a request that fails does so again while it is made smaller.

`after_call` counts the statuses of every operation; they are written when the process ends, for `conformance.py`.
"""

import atexit
import collections
import copy
import json
import os
import random
import threading

import schemathesis
from schemathesis.core.parameters import ParameterLocation
from schemathesis.generation.meta import CONTENT_TYPE_PROBES, coverage_scenario

import filling

KNOWN = json.loads(os.environ["CONFORMANCE_KNOWN"])
OWN = f"Bearer {os.environ['CONFORMANCE_KEY']}"
SEED = os.environ["CONFORMANCE_SEED"]
# One in so many requests comes with a key that may not, or not here.
OTHER_KEY_EVERY = 25

pool = filling.Pool(KNOWN["ids"])
counts = collections.defaultdict(collections.Counter)
lock = threading.Lock()


@schemathesis.hook
def before_call(context, case, kwargs):
    """Replaces some of what was generated."""
    label = case.operation.label
    # Keys are others in every run.
    headers = {name: value for name, value in case.headers.items() if name != "Authorization"}
    dice = random.Random(f"{SEED} {label} {case.path_parameters} {case.query} {headers} {case.body!r}")
    filler = filling.Filler(pool, dice, label, KNOWN["home"])
    meta = case.meta

    def is_sound(location):
        return meta is None or not meta.is_negative_at(location)

    if is_sound(ParameterLocation.PATH) and case.path_parameters:
        case.path_parameters = filler.path(case.path_parameters)
    if is_sound(ParameterLocation.QUERY) and case.query:
        case.query = filler.query(case.query)
    if is_sound(ParameterLocation.HEADER):
        filler.headers(case.headers)
    if isinstance(case.body, dict):
        body = copy.deepcopy(case.body)
        is_body_sound = is_sound(ParameterLocation.BODY)
        case.body = filler.body(body, _example(case)) if is_body_sound else filler.addresses(body)
    if case.headers.get("Authorization") == OWN and dice.randrange(OTHER_KEY_EVERY) == 0:
        case.headers["Authorization"] = f"Bearer {dice.choice(KNOWN['others'])}"


def _example(case):
    """The body that the document shows."""
    content = case.operation.definition.raw.get("requestBody", {}).get("content", {})
    return content.get(case.media_type, {}).get("example")


@schemathesis.hook
def after_call(context, case, response):
    """Counts, and learns."""
    label = case.operation.label
    with lock:
        counts[label][response.status_code] += 1
    if response.status_code < 300 and "json" in response.headers.get("content-type", [""])[0]:
        pool.learn(label, case.query, response.json())


@schemathesis.check
def media_type_probes(ctx, response, case):
    """schemathesis does not look at the answers to media types that are wrong on purpose: only that they are refused."""
    if coverage_scenario(case) in CONTENT_TYPE_PROBES:
        documented = case.operation.responses.status_codes
        assert str(response.status_code) in documented, f"{response.status_code} is none of {documented}"
        case.operation.validate_response(response, case=case)


@atexit.register
def write_counts():
    """For `conformance.py`."""
    with open(os.environ["CONFORMANCE_COUNTS"], "w", encoding="utf-8") as file:
        json.dump(counts, file)
