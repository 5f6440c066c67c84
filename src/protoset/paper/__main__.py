"""``python -m protoset.paper run|report``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from protoset.experiments.plan import SCALINGS
from protoset.paper.command import report_command, run_command
from protoset.paper.studies import SLOW, STUDIES

OUTPUT = "paper-output"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    parser = argparse.ArgumentParser(prog="python -m protoset.paper", description="The paper, measured again.")
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run", help="run the studies; run again, it goes on where it was")
    run.add_argument("--data", help="folder of the data sets; by default they are looked for as datasets.load does")
    run.add_argument("--output", default=OUTPUT, help="folder of the results")
    run.add_argument("--study", action="append", default=[], choices=list(STUDIES), help="only this study; repeatable")
    run.add_argument("--dataset", action="append", default=[], help="only this data set; repeatable")
    run.add_argument("--scaling", default="z", choices=SCALINGS, help="of the attributes, for all methods")
    run.add_argument("--without", action="append", default=[], choices=SLOW, help="leave a slow method out; repeatable")
    run.add_argument("--n-jobs", type=int, help="processes")
    run.add_argument("--retry-failed", action="store_true", help="compute cells that failed again")
    run.add_argument("--quiet", action="store_true", help="no progress on the standard error")
    report = commands.add_parser("report", help="write the report of what there is so far")
    report.add_argument("--output", default=OUTPUT, help="folder of the results")
    report.add_argument("--scaling", choices=SCALINGS, help="which vector study, where there are several")
    report.add_argument("--summary", help="also write a shorter page to this file")
    given = parser.parse_args(arguments)
    if given.command == "report":
        return report_command(given.output, scaling=given.scaling, summary=given.summary)
    return run_command(
        given.output,
        data=given.data,
        studies=given.study,
        datasets=given.dataset,
        scaling=given.scaling,
        without=given.without,
        n_jobs=given.n_jobs,
        retry_failed=given.retry_failed,
        verbose=0 if given.quiet else 1,
    )


if __name__ == "__main__":
    sys.exit(main())
