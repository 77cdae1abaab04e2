"""`python -m lectures.recipes`: exit status 0 done, 1 interrupted or failed, 2 misuse."""

import argparse
import os
import sys
from pathlib import Path

import torch
from nlmcore.corpora import MissingPackageError
from lectures.trained import FOLDER

from lectures import FOLDER as LECTURES
from lectures.recipes.run import Interrupted, MissingCheckpoint, Run, table
from lectures.recipes.table import RECIPES


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m lectures.recipes",
        description="Train the course's models and make its figures. Ctrl-C loses nothing; run it again.",
        epilog="example: python -m lectures.recipes memory",
    )
    parser.add_argument("name", nargs="?", choices=sorted(RECIPES), help="a recipe; without it, all are listed")
    parser.add_argument("--quick", action="store_true", help="a smoke run of seconds, written to the work folder")
    parser.add_argument("--seed", type=int, default=0, help="0 made the committed files")
    parser.add_argument("--work", type=Path, default=None, help="where unfinished trainings are kept")
    parser.add_argument("--to", type=Path, default=None, help="write checkpoints/ and results/ in this folder instead")
    parser.add_argument("--fresh", action="store_true", help="forget an unfinished training of this recipe")
    given = parser.parse_args(arguments)
    if given.name is None:
        rows = [[r.name, f"{r.minutes:g} min", r.what, ", ".join(r.makes)] for r in RECIPES.values()]
        print(table(["recipe", "one core", "what", "makes"], rows))
        return 0
    run = prepare(given.name, given.quick, given.seed, given.work, given.to)
    if given.fresh:
        for file in (*run.work.glob("*.pt"), *run.work.glob("*.json")):
            file.unlink()
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # the committed figures were made so; sums in another order give other last digits
    try:
        run.recipe.cook(run)
    except (Interrupted, KeyboardInterrupt):
        print(f"\nInterrupted; what was trained is kept in {run.work}. To go on: {run.recipe.command}", file=sys.stderr)
        return 1
    except (MissingCheckpoint, MissingPackageError) as error:
        print(error, file=sys.stderr)
        return 1
    finally:
        torch.set_num_threads(threads)
    return 0


def prepare(name: str, quick: bool = False, seed: int = 0, work: Path | None = None, to: Path | None = None) -> Run:
    """A run with its folders: from a checkout, the committed ones; a quick run never writes there."""
    cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "nlmcourse" / "recipes"
    work = (work or cache) / (f"{name}-quick" if quick else name)
    if quick and to is None:
        to = work
    checkpoints = to / "checkpoints" if to else FOLDER
    results = to / "results" if to else LECTURES / "results"
    work.mkdir(parents=True, exist_ok=True)
    return Run(RECIPES[name], work, checkpoints, results, quick, seed, progress=sys.stderr.isatty())


if __name__ == "__main__":
    sys.exit(main())
