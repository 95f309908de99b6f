"""Reads deliveries (cases.mjs) from standard input and prints what the sample in Python says of each."""

import base64
import json
import sys

sys.path.insert(0, sys.argv[1])
from verify import VerificationError, verify  # noqa: E402


def decode(field):
    return None if field == "-" else base64.b64decode(field)


def judge(line):
    body, *values, now, secrets = line.rstrip("\n").split("\t")
    names = ("Service-Timestamp", "Service-Signature", "Service-Event-Id")
    # WSGI and ASGI read headers as Latin-1.
    headers = {name: decode(value).decode("latin-1") for name, value in zip(names, values) if value != "-"}
    secrets = [] if secrets == "-" else [decode(secret).decode() for secret in secrets.split(",")]
    try:
        event = verify(decode(body), headers, secrets, int(now))
    except VerificationError as error:
        return error.code
    except ValueError:
        return "configuration"
    return "ok\t" + base64.b64encode(json.dumps(event).encode()).decode()


for delivery in sys.stdin:
    print(judge(delivery))
