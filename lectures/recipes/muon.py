"""Figure: does Muon train a small network better than Adam? Each at its best rate, and a control; five paired seeds.

    Adam           one rate for all parameters
    Muon           Muon for the matrices between the layers, Adam at its best rate for the rest
    Adam, longer   Adam with four times the steps, as a step of Muon takes about four times as long
    equal length   as Muon, but the step of a matrix is its momentum, scaled to the length of Muon's step

What lies between Muon and equal length is the orthogonalisation. The first seed chooses the rate of each row on dev plays,
from rates of which a worse one lies on each side of the best.
"""

import time
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import torch
from nlmcore.metrics.significance import paired
from nlmcore.training import Muon, cosine_schedule, orthogonalised
from torch import Tensor, nn

from lectures.recipes.experiment import best_rate, said
from lectures.recipes.run import Run, recipe
from lectures.recipes.small_network import BATCH, SEEDS, Data, data, loss_of, network, train

DEPTH, STEPS, WARM_UP, FACTOR = 3, 500, 50, 3.0
Optimiser = Callable[..., torch.optim.Optimizer]


def equally_long(G: Tensor) -> Tensor:
    """G, as long as a matrix of its shape whose singular values are 1."""
    return G * (min(G.shape) ** 0.5 / (G.norm() + 1e-7))


def split(parameters: Iterable[nn.Parameter]) -> tuple[list[nn.Parameter], list[nn.Parameter]]:
    """The matrices between the embedding, which is first, and the output matrix, which is last; all others."""
    weights = list(parameters)
    matrices = [weight for weight in weights if weight.ndim == 2][1:-1]
    return matrices, [weight for weight in weights if all(weight is not other for other in matrices)]


def adam(parameters: Iterable[nn.Parameter], rate: float, rest: float) -> torch.optim.Optimizer:
    groups = [{"params": some, "lr": lr} for some, lr in zip(split(parameters), (rate, rest), strict=True)]
    return torch.optim.Adam(groups, fused=True)


def muon(parameters: Iterable[nn.Parameter], rate: float, rest: float, direction: Any) -> torch.optim.Optimizer:
    return Muon(*split(parameters), lr=rate, rest_lr=rest, direction=direction)


ROWS: dict[str, tuple[Optimiser, float, int]] = {
    "Adam": (adam, 3e-3, 1),
    "Muon": (partial(muon, direction=orthogonalised), 0.02, 1),
    "equal length": (partial(muon, direction=equally_long), 0.02, 1),
    "Adam, longer": (adam, 3e-3, 4),
}
"""Row -> its optimiser, the rate around which others are tried, and how many times the steps of the others."""


def trained(run: Run, found: Data, row: str, seed: int, rate: float, rest: float) -> dict[str, Any]:
    optimiser, _, times = ROWS[row]
    steps = times * run.size(STEPS, 4)
    return train(
        run,
        f"{row}, {rate:g}, {rest:g}",
        seed,
        found,
        steps=steps,
        optimiser=partial(optimiser, rate=rate, rest=rest),
        build=partial(network, depth=DEPTH),
        schedule=partial(cosine_schedule, total=steps, warmup=min(WARM_UP, steps - 1)),
        points=5,
    )


def of_first_seed(run: Run, found: Data, row: str, rest: float | None, rate: float) -> dict[str, Any]:
    """rest: None is the same rate."""
    return trained(run, found, row, 0, rate, rest or rate)


def seconds_per_step(run: Run, found: Data, row: str) -> dict[str, float]:
    """Processor time of a step, without and with the gradient."""
    model = run.build("timed", partial(network, found.vocab_size, depth=DEPTH))
    optimiser = ROWS[row][0](model.parameters(), rate=1e-3, rest=1e-3)
    batch = next(found.train.batches(BATCH, 0)(0))
    both = []
    for _ in range(run.size(5, 1)):
        began = time.process_time()
        for _ in range(run.size(40, 1)):
            optimiser.zero_grad()
            loss_of(model, batch).backward()  # type: ignore[no-untyped-call]
        middle = time.process_time()
        for _ in range(run.size(40, 1)):
            optimiser.step()
        both.append((middle - began, time.process_time() - middle))
    gradient, step = (min(each) / run.size(40, 1) for each in zip(*both, strict=True))
    return {"gradient": round(gradient, 5), "step": round(step, 5)}


@recipe(3)
def cook(run: Run) -> None:
    torch.set_num_threads(1)
    found = data(run)
    rows: dict[str, dict[str, Any]] = {}
    rest = None
    for row in ROWS:
        first = ROWS[row][1]
        rates = [float(f"{first * by:.2g}") for by in run.size((1 / FACTOR, 1, FACTOR), (1,))]
        beside = None if ROWS[row][0] is adam else rest
        rate, tried = best_rate(rates, partial(of_first_seed, run, found, row, beside))
        rest = rest or rate  # Adam's, which is first
        runs = [trained(run, found, row, seed, rate, beside or rate) for seed in range(run.size(SEEDS, 2))]
        rows[row] = {
            "rate": rate,
            "tried": {f"{each:g}": of["dev"] for each, of in sorted(tried.items())},
            "steps": ROWS[row][2] * run.size(STEPS, 4),
            "test": [one["test"] for one in runs],
            "curve": [one["curve"]["dev"] for one in runs],
            "seconds": run.kept(f"seconds {row}", partial(seconds_per_step, run, found, row)),
        }
    tests, layout = paired(rows["Muon"]["test"], {row: of["test"] for row, of in rows.items() if row != "Muon"})
    run.save_result(
        "muon",
        {
            "question": "Does Muon train a small network better than Adam?",
            "how": f"nats per character of Shakespeare's test plays; the window model with {DEPTH} hidden layers of 128;"
            f" {STEPS} steps of {BATCH}, {ROWS['Adam, longer'][2]} times as many for Adam, longer; cosine after {WARM_UP}"
            " steps of warm-up; rates bracketed on dev plays with the first seed",
            "split": found.split,
            "steps": run.size(STEPS, 4),
            "depth": DEPTH,
            "rate of the rest": rest,
            "rows": rows,
            "minus Muon": {row: [round(float(v), 4) for v in test] for row, test in tests.items()},
            "sd": round(layout.sd, 4),
            "what_it_shows": said(rows, "{row} {test!i} nats at a rate of {rate}"),
        },
    )
