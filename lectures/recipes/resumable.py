"""Trainings one by one, each with a file of its own in `lectures/results`: any number of interruptions, no run is lost.

A recipe of this kind declares its jobs, and what must hold before later ones may start:

    plan()       (the jobs that may be trained now, in order; in sentences, what stops the others)
    train(job)   the facts of one run, which are written when it ends

`plan` is asked again after every run, since a rate may have to be tried that nobody foresaw.

    python -m lectures.recipes.NAME                 what is done, what is left, what does not hold
    python -m lectures.recipes.NAME --hours 2       starts no training after two hours; resumes where it stopped
"""

import argparse
import json
import math
import re
import time
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Protocol, TypeVar

import torch
from nlmcore.training import clip_gradients, cosine_schedule
from torch import Tensor, nn

from lectures import FOLDER
from lectures.recipes.run import machine, write_json


class Job(Hashable, Protocol):
    """One training; a frozen dataclass, so that another process can be given it."""

    @property
    def file(self) -> Path: ...


J = TypeVar("J", bound=Job)


def file_of(folder: str, *words: Any) -> Path:
    """Where a run with this description is stored."""
    name = " ".join(str(word) for word in words if word != "").lower()
    return FOLDER / "results" / folder / (re.sub(r"[^a-z0-9.]+", "-", name).strip("-") + ".json")


def read(job: Job) -> dict[str, Any] | None:
    """A finished run, or None."""
    return json.loads(job.file.read_text(encoding="utf-8")) if job.file.exists() else None


def bracketed(
    rates: Sequence[float], losses: Callable[[float], float | None], step: float
) -> tuple[list[float], float | None]:
    """The learning rates to try, and the best of them once it has a worse one on each side.

    losses(rate): the mean loss, or None while a run is missing. A best rate at the edge adds the next one beyond it.
    """
    tried = sorted(rates)
    while True:
        found = {rate: loss for rate in tried if (loss := losses(rate)) is not None}
        if len(found) < len(tried):
            return tried, None
        best = min(tried, key=found.__getitem__)
        if best == tried[0]:
            tried = [float(f"{best / step:.2g}"), *tried]
        elif best == tried[-1]:
            tried = [*tried, float(f"{best * step:.2g}")]
        else:
            return tried, best


def unused(what: str, own: float, floor: float, cost: float, margin: float, least: float) -> list[str]:
    """In sentences, what shows that a model does not use its source or its context: that it does not beat by `margin` the
    floor that needs none, or that another text's costs it less than `least`."""
    wrong = []
    if own > floor - margin:
        wrong.append(f"{what}: {own:.3f} nats; an n-gram that sees none of it has {floor:.3f}")
    if cost < least:
        wrong.append(f"{what}: another text's costs only {cost:.3f} nats: it is hardly used")
    return wrong


def descent(
    model: nn.Module, batches: Iterable[Any], loss: Callable[[Any], Tensor], rate: float, warm_up: int, total: int,
    betas: tuple[float, float] = (0.9, 0.999),
) -> Iterator[float | None]:  # fmt: skip
    """AdamW with a cosine, gradients clipped at 1: the loss after every step; None, and no more, once it is not finite."""
    weights = list(model.parameters())
    optimiser = torch.optim.AdamW(weights, lr=rate, weight_decay=0.0, betas=betas, fused=True)
    for step, batch in enumerate(batches, 1):
        for group in optimiser.param_groups:
            group["lr"] = rate * cosine_schedule(step, total=total, warmup=warm_up)
        value = loss(batch)
        optimiser.zero_grad(set_to_none=True)
        value.backward()  # type: ignore[no-untyped-call]
        if not (math.isfinite(clip_gradients(weights, 1.0)) and math.isfinite(value.item())):
            yield None
            return
        optimiser.step()
        yield value.item()


def timed(train: Callable[[J], dict[str, Any]], job: J) -> dict[str, Any]:
    """On one thread, with its processor time."""
    torch.set_num_threads(1)
    began = time.process_time()
    return train(job) | {"processor_seconds": round(time.process_time() - began, 1)}


def work(
    plan: Callable[[], tuple[list[J], list[str]]],
    train: Callable[[J], dict[str, Any]],
    command: str,
    hours: float,
    workers: int,
) -> None:
    end = time.monotonic() + 3_600 * hours
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        running: dict[Future[dict[str, Any]], J] = {}
        while True:
            left = [job for job in plan()[0] if not job.file.exists() and job not in running.values()]
            while left and len(running) < workers and time.monotonic() < end:
                job = left.pop(0)
                running[pool.submit(timed, train, job)] = job
            if not running:
                return
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                job, found = running.pop(future), future.result()
                made_by = {"command": command, "machine": machine(), "torch": torch.__version__}
                write_json(job.file, found | {"made_by": made_by})
                loss = f"{found['final']:.4f}, " if "final" in found else ""
                print(f"{job.file.stem}: {loss}{found['processor_seconds']} s", flush=True)


def main(
    name: str, plan: Callable[[], tuple[list[J], list[str]]], train: Callable[[J], dict[str, Any]], workers: int = 1
) -> None:
    """The program of a recipe; name: its module, workers: the default."""
    parser = argparse.ArgumentParser(prog=f"python -m {name}")
    parser.add_argument("--hours", type=float, default=0.0, help="start no training after so many hours")
    parser.add_argument("--workers", type=int, default=workers, help="trainings at a time, one core each")
    given = parser.parse_args()
    if given.hours:
        command = f"python -m {name} --hours {given.hours:g} --workers {given.workers}"
        work(plan, train, command, given.hours, given.workers)
    jobs, wrong = plan()
    print(f"{sum(job.file.exists() for job in jobs)} of {len(jobs)} runs are done")
    print("\n".join(f"  {sentence}" for sentence in wrong or ["nothing stops the rest"]))
