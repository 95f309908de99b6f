"""A real `authority serve` for the run: a process with files of its own, on loopback, without rate limits.

`Authority` makes an operator's key, starts the service and reads its addresses from the ready line. `end` stops it, and
then judges what it left behind: its log must tell of no panic and of no error, and `authority doctor` must find its
database sound.

Endpoints and the sink are made with addresses of a `Receiver`, so that deliveries are tried, succeed and fail, and nothing
leaves the machine.
"""

import json
import os
import pathlib
import signal
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

LINE_SHOWN = 600
SILENT = "/silent"
# Longer than the authority waits.
SILENCE_S = 20
KEK = "dGVzdC1rZXktZW5jcnlwdGlvbi1rZXktMzItYnl0ZXM="


class Authority:
    """One that runs."""

    def __init__(self, binary: str, folder: pathlib.Path, database_url: str | None):
        self._binary = binary
        self._log_path = folder / "authority.log"
        self._environment = {
            "PATH": os.environ.get("PATH", ""),
            "AUTHORITY_DATABASE_URL": database_url or f"sqlite://{folder / 'authority.db'}",
            "AUTHORITY_SECRET_KEK": KEK,
            "AUTHORITY_LISTEN": "127.0.0.1:0",
            "AUTHORITY_OPERATOR_LISTEN": "127.0.0.1:0",
            "AUTHORITY_ENV": "development",
            "AUTHORITY_ALLOW_LOOPBACK_ENDPOINTS": "true",
            "AUTHORITY_RATE_LIMITS": "off",
            "AUTHORITY_RETRY_SCHEDULE": "0,1",
            "AUTHORITY_LOG": "warn",
            "AUTHORITY_LOG_FORMAT": "json",
        }
        self._command("migrate")
        self.operator_key = self._operator_key()
        self.readers_key = self._operator_key("--scopes", "operator:read")
        with open(self._log_path, "w", encoding="utf-8") as log:
            self._process = subprocess.Popen(
                [binary, "serve"], env=self._environment, stdout=subprocess.PIPE, stderr=log, text=True
            )
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit(f"the authority ended before it was ready:\n{self._log_path.read_text()}")
        ready = json.loads(line)
        self.merchant_api, self.operator_api = ready["merchant_api"], ready["operator_api"]

    def _run(self, *words: str) -> subprocess.CompletedProcess:
        return subprocess.run(
            [self._binary, *words], env=self._environment, capture_output=True, text=True, check=False
        )

    def _command(self, *words: str) -> str:
        done = self._run(*words)
        if done.returncode != 0:
            raise SystemExit(f"`authority {' '.join(words)}` failed:\n{done.stdout}{done.stderr}")
        return done.stdout

    def _operator_key(self, *words: str) -> str:
        return json.loads(self._command("operator-key", "create", "--name", "conformance", "--json", *words))["key"]

    def end(self) -> list[str]:
        """Stops it and returns what is wrong with what it left behind."""
        wrong = []
        if self._process.poll() is not None:
            wrong.append(f"the authority had ended by itself, with {self._process.returncode}")
        self._process.send_signal(signal.SIGTERM)
        code = self._process.wait(timeout=60)
        if code != 0:
            wrong.append(f"the authority ended with {code}")
        lines = self._log_path.read_text(encoding="utf-8", errors="replace").splitlines()
        wrong.extend(f"log: {line[:LINE_SHOWN]}" for line in lines if _is_fault(line))
        doctor = self._run("doctor")
        if doctor.returncode != 0:
            wrong.append(f"`authority doctor`: {doctor.stdout}{doctor.stderr}")
        return wrong


def _is_fault(line: str) -> bool:
    """A warning is for the operator: an endpoint that fails, a report that does not fit. What is no line of the log at
    all is what a panic writes."""
    try:
        return json.loads(line)["level"] == "ERROR"
    except (ValueError, KeyError, TypeError):
        return bool(line.strip())


class _Answer(BaseHTTPRequestHandler):
    """Takes what is sent, and answers with the status that the path names, or not at all."""

    protocol_version = "HTTP/1.1"

    def do_POST(self):  # noqa: N802, the base class calls it so
        self.rfile.read(int(self.headers.get("content-length") or 0))
        if self.path == SILENT:
            threading.Event().wait(SILENCE_S)
        self.send_response(int(self.path.rsplit("/", 1)[-1]))
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_):
        """Says nothing."""


class _Server(ThreadingHTTPServer):
    """A sender that gives up is none of our failures."""

    def handle_error(self, *_):
        """Says nothing."""


class Receiver:
    """Receives deliveries, on loopback, until the program ends."""

    def __init__(self):
        server = _Server(("127.0.0.1", 0), _Answer)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self._base = f"http://127.0.0.1:{server.server_port}"

    def url(self, status: int) -> str:
        """Where deliveries are answered with this status."""
        return f"{self._base}/{status}"

    def silent(self) -> str:
        """Where they are not answered."""
        return self._base + SILENT
