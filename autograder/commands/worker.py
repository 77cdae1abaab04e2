"""`worker URL`: lend this machine's cores to a run of `grade --scheduler URL`."""

import argparse
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from autograder.commands import common

if TYPE_CHECKING:
    from autograder.course.environment import Environment

EXAMPLES = """
worker tcp://10.0.0.5:8786
worker tcp://10.0.0.5:8786 --cores 4
"""


def parser() -> argparse.ArgumentParser:
    made = common.parser(
        "worker",
        "Join a Dask scheduler: this machine then grades submissions that it hands out, until Ctrl-C.\n"
        "It needs the course (this checkout), not the submissions or the gradebook. Dask's connections are neither\n"
        "encrypted nor protected: use them in a network that you trust.",
        EXAMPLES,
        assignment=False,
    )
    made.add_argument("scheduler", metavar="URL", help="tcp://HOST:8786, as the scheduler says when it starts")
    made.add_argument("--cores", type=int, default=os.cpu_count() or 1, help="how many to lend (default: all)")
    return made


def main(place: "Environment", words: Sequence[str]) -> int:
    from autograder.course import lab

    given = parser().parse_args(words)
    line = [sys.executable, "-m", "distributed.cli.dask_worker", given.scheduler]
    line += ["--nworkers", str(given.cores), "--nthreads", "1", "--memory-limit", "0", "--no-dashboard"]
    variables = {**os.environ, "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    return lab.become(line, variables, place.root)
