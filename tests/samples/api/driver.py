"""Runs samples in one interpreter: starting one for each would take longer than the samples.

A line of standard input is a run: `{"file": …, "env": {…}}`. A line of output is how it went: `{"code", "stdout",
"stderr"}`, as the sample's own process would have ended.
"""

import contextlib
import io
import json
import os
import runpy
import sys
import traceback


def run(file, env):
    os.environ.update(env)
    stdout, stderr = io.StringIO(), io.StringIO()
    code = 0
    with contextlib.redirect_stdout(stdout), contextlib.redirect_stderr(stderr):
        try:
            runpy.run_path(file, run_name="__main__")
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 1
            if not isinstance(end.code, int):
                print(end.code, file=sys.stderr)
        except Exception:
            code = 1
            traceback.print_exc()
    return {"code": code, "stdout": stdout.getvalue(), "stderr": stderr.getvalue()}


for line in sys.stdin:
    print(json.dumps(run(**json.loads(line))), flush=True)
