"""The process that is killed: ``python -m campaigns.chaos_child SCENARIO`` gets ready, waits for a line, and works.

The line is JSON: the folder to work in, and the options of the work. Output of the work on the standard output is
dropped; its errors stay on the standard error.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path

from campaigns.chaos_scenarios import SCENARIOS


def main() -> int:
    """Do the work of a scenario and return the exit code."""
    scenario = SCENARIOS[sys.argv[1]]
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    scenario.warm()
    answers.write("ready\n")
    answers.flush()
    order = json.loads(sys.stdin.readline())
    started = time.monotonic()
    code = scenario.work(Path(order["folder"]), **order["options"])
    # The work is done: Ctrl-C at the end of Python itself would say nothing about it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answers.write(f"{time.monotonic() - started}\n")
    answers.flush()
    return code


if __name__ == "__main__":
    sys.exit(main())
