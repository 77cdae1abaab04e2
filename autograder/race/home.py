"""The race at home: an entry is trained, checked and measured as by the grader, in this process and on the test plays.

Results are kept in a file next to the notebook, so a run that was stopped continues with its next seed.
"""

import contextlib
import json
import os
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from autograder.files import write_whole
from autograder.race import asking, rules
from autograder.race.rules import PROMPT

__all__ = ["curve", "race"]
AUDITED = 8
"""Places, fewer than the grader's: here an audit finds slips."""
FILE, YOURS = Path("race.json"), "yours: "
MEASURED = Path(__file__).resolve().parent / "measured.json"
"""The course's own entries: [{"entry", "seconds", "seed", "bits", "used", "plays"}, …], written by `race --record`;
with "factor" if it is not 1. "used" is divided by the factor."""
ABLATED = MEASURED.with_name("ablated.json")
"""The same of our best entry with a part left out."""


def race(
    name: str,
    entry: Mapping[str, Callable[..., Any]],
    seconds: float = 60.0,
    seeds: Sequence[int] = (0, 1, 2),
    file: Path | None = None,
    factor: float = 1.0,
    kind: str = "",
) -> str:
    """Train the entry `name` for each seed that has no result yet, and print its bits per byte.

    entry: the functions train, encode, log_probabilities and write; seconds: of processor time, for training; file:
    for the results, FILE by default; factor: of this machine's seconds, as for the command `race`; kind: one of
    `rules.KINDS`, for the points. Returns what the last model that it trained writes, or "".
    """
    if kind not in ("", *rules.KINDS):
        raise ValueError(f"race: the kind of an entry is one of {', '.join(rules.KINDS)}, or left out; got {kind!r}")
    import torch._dynamo  # noqa: F401  (the first optimiser does, and the sandbox counts no seconds for it either)

    from autograder.race.split import at_home

    split, file = at_home(), file or FILE
    known = {row["seed"]: row for row in _rows(file) if (row["entry"], row["seconds"]) == (name, seconds)}
    written = ""
    for seed in seeds:
        kept = f" (from {file.name}; another name would train anew)" if seed in known else ""
        if not kept:
            with _bar(seconds * factor, f"{name}, seed {seed}"):
                found = _one(entry, split.train, split.held, seconds, seed, factor)
            if isinstance(found, str):
                print(f"{name}, seed {seed}: no result. {found}")
                return written
            numbers, written = found
            known[seed] = {"entry": name, "seconds": seconds, "seed": seed, **numbers}
            _keep(file, known[seed])
        print(f"{name}, seed {seed}: {known[seed]['bits']:.3f} bits per byte after {seconds:g} s{kept}")
    mean = sum(known[seed]["bits"] for seed in seeds) / len(seeds)
    marked = seconds in rules.THRESHOLDS
    told = f": {rules.worth(mean, seconds, kind):g} of {rules.MOST:g} points" if marked else ""
    print(f"{name}: {mean:.3f} on average of {len(seeds)}{told}")
    if (best := _best_other(file, name, seconds, seeds)) is not None:
        other, bits = best
        more = [known[seed]["bits"] - theirs for seed, theirs in zip(seeds, bits, strict=True)]
        each = f"{more[0]:+.3f}" if len(more) == 1 else f"from {min(more):+.3f} to {max(more):+.3f}"
        print(f"{name} minus {other}, the best of your other entries, seed by seed: {each} bits per byte")
    return written


def _best_other(file: Path, name: str, seconds: float, seeds: Sequence[int]) -> tuple[str, list[float]] | None:
    """Of the file's other entries that have all these seeds, the best on average, and its bits for each seed."""
    found: dict[str, dict[int, float]] = {}
    for row in _rows(file):
        if row["seconds"] == seconds and row["entry"] != name:
            found.setdefault(row["entry"], {})[row["seed"]] = row["bits"]
    whole = [(entry, [bits[seed] for seed in seeds]) for entry, bits in found.items() if bits.keys() >= set(seeds)]
    return min(whole, key=lambda one: sum(one[1]), default=None)


def _one(
    entry: Mapping[str, Callable[..., Any]],
    train: Sequence[str],
    held: Sequence[str],
    seconds: float,
    seed: int,
    factor: float = 1.0,
) -> tuple[dict[str, Any], str] | str:
    """The bits per byte, on all plays and on each, with the time used; and what the model writes. Or what is wrong."""
    ask = _Asking(entry, seconds, factor)
    found = rules.judged(ask, train, held, seconds * factor, seed, os.urandom(32), AUDITED)
    if found.bits is None:
        return f"{rules.SENTENCES[found.fault]}{f' ({found.words})' if found.words else ''}"
    bits = [round(one, 4) for one in (found.bits, *found.plays)]
    written = f"Nothing: {found.words}" if found.words else PROMPT + found.sample
    used = max(0.1, round(ask.used / factor, 1))
    return {"bits": bits[0], "used": used, "plays": bits[1:]} | ({"factor": factor} if factor != 1 else {}), written


class _Asking:
    """What the grader asks of several processes, in this one."""

    def __init__(self, entry: Mapping[str, Callable[..., Any]], seconds: float, factor: float) -> None:
        self.entry, self.seconds, self.factor, self.used = entry, seconds, factor, 0.0
        self.set_by_train: list[str] = []

    def __call__(self, what: str, file: Any, *calls: tuple[Any, ...]) -> list[tuple[Any, ...]]:
        began = time.process_time()
        try:
            with _forgotten(self.entry) as names:
                asked = asking.Asked(self.entry)
                if file is not None:
                    asked.open(file)
                found = [getattr(asked, what)(*call) for call in calls]
        except Exception as error:
            fault = rules.fault_behind(type(error).__name__, str(error))
            if fault == "raised":
                traceback.print_exc(file=sys.stdout)
            words = f"{type(error).__name__}: {error}".partition("\n")[0]
            if what != "train" and self.set_by_train:
                words += (
                    f". Your train set {', '.join(self.set_by_train)} outside of itself, but every other function is "
                    "called in a new process, which knows only what train returned"
                )
            raise rules.Failed(fault, words) from None
        used = time.process_time() - began
        if what == "train":
            self.used, self.set_by_train = used, sorted(names)
        if used > (limit := self.factor * rules.limit(what, self.seconds)):
            words = f"It took {used:.1f} s, and may take {limit:.1f}."
            raise rules.Failed("out-of-time" if what == "train" else "slow-to-measure", words)
        return [one if isinstance(one, tuple) else (one,) for one in found]


@contextlib.contextmanager
def _forgotten(entry: Mapping[str, Callable[..., Any]]) -> Iterator[list[str]]:
    """What the entry's functions set in their notebook is forgotten at the end, as with the grader's processes. Yields
    a list, for its names."""
    spaces = {id(space): space for f in entry.values() if (space := getattr(f, "__globals__", None)) is not None}
    before = {number: dict(space) for number, space in spaces.items()}
    names: list[str] = []
    try:
        yield names
    finally:
        for number, space in spaces.items():
            known = before[number]
            names += [name for name, value in space.items() if name not in known or value is not known[name]]
            for name in [name for name in space if name not in known]:
                del space[name]
            space.update(known)


def _keep(file: Path, row: Mapping[str, Any]) -> None:
    lines = [json.dumps(one, ensure_ascii=False) for one in (*_rows(file), row)]
    write_whole(file, "[\n " + ",\n ".join(lines) + "\n]\n")


@contextlib.contextmanager
def _bar(seconds: float, words: str) -> Iterator[None]:
    """A bar of the processor time that is used, if it takes long enough to look."""
    from tqdm import tqdm

    over = threading.Event()
    began = time.process_time()
    bar = tqdm(total=round(seconds), desc=words, unit="s", delay=5, file=sys.stdout, leave=False)

    def watch() -> None:
        while not over.wait(1.0):
            bar.update(min(bar.total, round(time.process_time() - began)) - bar.n)

    watching = threading.Thread(target=watch, daemon=True)
    watching.start()
    try:
        yield
    finally:
        over.set()
        watching.join()
        bar.close()


def _rows(path: Path) -> list[dict[str, Any]]:
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else []


def curve() -> Any:
    """Bits per byte against the processor time that was used: the course's entries in colours, and yours from the file
    of results in black."""
    from IPython.display import HTML

    from lectures.show.plot import Axis, Look, Plot
    from lectures.show.svg import COLOURS, INK, MARKS, Canvas

    rows = _rows(MEASURED) + [{**row, "entry": f"{YOURS}{row['entry']}"} for row in _rows(FILE)]
    found: dict[str, dict[float, list[dict[str, Any]]]] = {}
    for row in rows:
        found.setdefault(row["entry"], {}).setdefault(float(row["seconds"]), []).append(row)
    times = [row.get("used", row["seconds"]) for row in rows]
    canvas = Canvas("Bits per byte of plays that were not trained on", size=16)
    ticks = {s: f"{s:g}" for s in (0.1, 1.0, 10.0, *rules.THRESHOLDS) if min(times) / 1.3 <= s <= max(times) * 1.3}
    time_used = Axis(min(times) / 1.3, max(times) * 1.3, "seconds of processor time", ticks, log=True)
    coloured = [colour for colour in COLOURS if colour != INK]
    keys = {
        name: Look(INK if name.startswith(YOURS) else coloured[i % len(coloured)], mark=MARKS[i % len(MARKS)])
        for i, name in enumerate(found)
    }
    axes = time_used, Axis(1.6, max(row["bits"] for row in rows) + 0.1, "bits per byte")
    plot = Plot(canvas, *axes, across=820, down=430, keys=keys, columns=3)
    told = []
    for name, of in found.items():
        x, y = [], []
        for _, some in sorted(of.items()):
            x.append(sum(row.get("used", row["seconds"]) for row in some) / len(some))
            y.append(sum(row["bits"] for row in some) / len(some))
            plot.marks([x[-1]] * len(some), [row["bits"] for row in some], plot.keys[name])
        plot.line(x, y, plot.keys[name])
        told.append(f"{name}: " + ", ".join(f"{bits:.2f} after {s:.1f} s" for s, bits in zip(x, y, strict=True)))
    return HTML(canvas.svg(alt=f"Bits per byte against processor time. {'. '.join(told)}."))
