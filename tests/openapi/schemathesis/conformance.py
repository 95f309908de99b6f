"""Holds both listeners to the documents they serve: every answer to some thousand generated requests is one that
`/openapi.json` declares, in status, media type, headers and schema.

`cargo xtask test api` and `cargo xtask prove api-conformance` call it. For each listener, both at once, it starts an
authority (`authority.py`), fills it (`shop.py`), and lets schemathesis loose on the document that the listener serves
(`schemathesis.toml`, `hooks.py`), again and again with further seeds until there were as many cases as are wanted.

Everything that schemathesis finds is printed and fails the run. So do too few cases, operations that were never granted
beyond a tenth, an error in the authority's log, and a database that `authority doctor` finds anything in. Before all
that, a document with faults planted in it must be found out, and the public library of Standard Webhooks for Python must
verify deliveries (`standard_webhooks.py`).
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import secrets
import subprocess
import sys
import tempfile
import time

import requests

import planted
import shop
import standard_webhooks
from authority import Authority, Receiver

HERE = pathlib.Path(__file__).parent
# Of all operations.
GRANTED_SHARE_MIN = 0.9
# Cases per operation and turn, beside those that follow from the document alone (about a hundred).
EXAMPLES_MIN, EXAMPLES_MAX = 10, 400
STATUS_COLUMNS = ("2xx", "304", "400", "401", "403", "404", "405", "409", "415", "422")


class Listener:
    """One listener, and what came of its runs."""

    def __init__(self, name: str, database_url: str | None, arguments: argparse.Namespace):
        self.name = name
        self.cases = 0
        self.turns = 0
        self.operations = 0
        self.seconds = 0.0
        self.counts: dict[str, dict[str, int]] = {}
        self.wrong: list[str] = []
        self._database_url = database_url
        self._arguments = arguments

    def run(self) -> None:
        """Until there are enough cases, or something is wrong."""
        began = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="api-conformance-") as folder:
            self._folder = pathlib.Path(folder)
            authority = Authority(self._arguments.authority, self._folder, self._database_url)
            try:
                receiver = Receiver()
                if self.name == "merchant":
                    self.wrong.extend(standard_webhooks.faults(authority))
                    self._planted(authority, shop.open_shop(authority, receiver))
                while not self.wrong and self.cases < self._arguments.cases:
                    self._turn(authority, shop.open_shop(authority, receiver))
            finally:
                self.wrong.extend(authority.end())
        self.seconds = time.monotonic() - began
        self._judge()

    def _planted(self, authority: Authority, known: dict) -> None:
        """What is planted must be found, or nothing that is not found means anything."""
        served = requests.get(f"{authority.merchant_api}/openapi.json", timeout=30).json()
        document = self._folder / "planted.json"
        document.write_text(json.dumps(planted.document(served)))
        chosen = [word for path in planted.OPERATIONS for word in ("--include-path", path)]
        words = [str(document), "--url", authority.merchant_api, "--phases", "coverage,fuzzing", *chosen]
        _, report, _ = self._schemathesis(known["key"], known, self._arguments.seed, words)
        self.wrong.extend(planted.overlooked(report))

    def _turn(self, authority: Authority, known: dict) -> None:
        """Once through all operations."""
        is_operator = self.name == "operator"
        address = authority.operator_api if is_operator else authority.merchant_api
        key = authority.operator_key if is_operator else known["key"]
        # What the document alone decides is the same in every turn.
        phases = "fuzzing,stateful" if self.cases else "examples,coverage,fuzzing,stateful"
        seed = self._arguments.seed + self.turns
        done, report, counts = self._schemathesis(key, known, seed, [f"{address}/openapi.json", "--phases", phases])
        if done.returncode != 0:
            self.wrong.append(f"schemathesis, seed {seed}:\n{done.stdout.decode(errors='replace')}")
        self.turns += 1
        self._add(report, counts)
        print(f"{self.name}, seed {seed}: {self.cases} cases so far", flush=True)

    def _schemathesis(self, key: str, known: dict, seed: int, words: list[str]):
        """Lets it loose; how it ended, its report, and the statuses of each operation."""
        counts, report = self._folder / "counts.json", self._folder / "report.json"
        for file in (counts, report):
            file.unlink(missing_ok=True)
        environment = {
            **os.environ,
            "PYTHONPATH": str(HERE),
            "PYTHONDONTWRITEBYTECODE": "1",
            # Else every request looks through the whole environment for a proxy.
            "NO_PROXY": "127.0.0.1",
            "CONFORMANCE_KEY": key,
            "CONFORMANCE_KNOWN": json.dumps(known),
            "CONFORMANCE_SEED": str(seed),
            "CONFORMANCE_COUNTS": str(counts),
        }
        examples = min(max(self._arguments.cases // 200, EXAMPLES_MIN), EXAMPLES_MAX)
        command = [
            sys.executable, "-m", "schemathesis.cli", "--config-file", str(HERE / "schemathesis.toml"), "run", *words,
            "--seed", str(seed), "--max-examples", str(examples), "--report", "json", "--report-json-path", str(report),
        ]  # fmt: skip
        done = subprocess.run(
            command, cwd=self._folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
        )
        # The report is empty until the run has ended.
        if not counts.exists() or not report.read_text():
            raise SystemExit(done.stdout.decode(errors="replace"))
        return done, json.loads(report.read_text()), json.loads(counts.read_text())

    def _add(self, report: dict, counts: dict) -> None:
        self.cases += report["test_cases"]["generated"]
        self.operations = report["operations"]["total"]
        if not report["test_cases"]["generated"]:
            self.wrong.append("a turn without a single case")
        if report["operations"]["tested"] != self.operations:
            self.wrong.append(f"{report['operations']['tested']} of {self.operations} operations were tested")
        for label, statuses in counts.items():
            total = self.counts.setdefault(label, {})
            for status, count in statuses.items():
                total[status] = total.get(status, 0) + count

    def _judge(self) -> None:
        if self.cases < self._arguments.cases:
            self.wrong.append(f"{self.cases} cases, fewer than {self._arguments.cases}")
        for label, statuses in self.counts.items():
            broken = {status: count for status, count in statuses.items() if status.startswith("5")}
            if broken:
                self.wrong.append(f"{label} answered {broken}")
        if len(self.granted()) < GRANTED_SHARE_MIN * self.operations:
            self.wrong.append(f"only {len(self.granted())} of {self.operations} operations were ever granted")

    def granted(self) -> list[str]:
        """The operations that answered 2xx at least once."""
        return [label for label, statuses in self.counts.items() if any(s.startswith("2") for s in statuses)]

    def row(self) -> list[str]:
        """For the table."""
        sums = dict.fromkeys(STATUS_COLUMNS, 0)
        for statuses in self.counts.values():
            for status, count in statuses.items():
                column = "2xx" if status.startswith("2") else status
                sums[column] = sums.get(column, 0) + count
        cells = [self.name, str(self.cases), f"{len(self.granted())}/{self.operations}", f"{self.seconds:.0f} s"]
        return cells + [str(sums[column]) for column in STATUS_COLUMNS]


def main() -> int:
    parser = argparse.ArgumentParser(description="Holds both listeners to the documents they serve.")
    parser.add_argument("--authority", required=True, help="the program")
    parser.add_argument("--cases", type=int, default=2_000, help="per listener, at least")
    parser.add_argument("--seed", type=int, help="another one each time when it is left out")
    parser.add_argument("--merchant-database", help="an empty PostgreSQL database; a SQLite file when left out")
    parser.add_argument("--operator-database")
    arguments = parser.parse_args()
    if arguments.seed is None:
        arguments.seed = secrets.randbelow(1_000_000_000)
    print(f"seed {arguments.seed}", flush=True)
    databases = {"merchant": arguments.merchant_database, "operator": arguments.operator_database}
    listeners = [Listener(name, url, arguments) for name, url in databases.items()]
    with concurrent.futures.ThreadPoolExecutor() as both:
        for future in [both.submit(listener.run) for listener in listeners]:
            future.result()
    report(listeners)
    return 1 if any(listener.wrong for listener in listeners) else 0


def report(listeners: list[Listener]) -> None:
    for listener in listeners:
        for wrong in listener.wrong:
            print(f"\n{listener.name}: {wrong}")
    rows = [["listener", "cases", "granted", "took", *STATUS_COLUMNS], *(listener.row() for listener in listeners)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        print("  ".join(cell.rjust(width) for cell, width in zip(row, widths)))
    for listener in listeners:
        never = sorted(set(listener.counts) - set(listener.granted()))
        if never:
            print(f"{listener.name}, never granted: {', '.join(never)}")


if __name__ == "__main__":
    sys.exit(main())
