"""Learning rates as functions of the step: pure functions, so a resumed run needs nothing but the step.

`fit` calls a schedule with 1 before the first update. Bind the other arguments with functools.partial:

    fit(..., learning_rate=1.0, schedule=partial(noam_schedule, d_model=128, warmup=400))
    fit(..., learning_rate=3e-4, schedule=partial(cosine_schedule, total=2_000, warmup=100))
"""

import math

from nlmcore.training.arguments import check_count, check_share


def noam_schedule(step: int, d_model: int, warmup: int = 4_000) -> float:
    """d_model^-0.5 * min(step^-0.5, step * warmup^-1.5): a learning rate that rises for `warmup` steps, then falls.

    Source: Vaswani et al. (2017, section 5.3). At step = warmup both branches meet in (d_model * warmup)^-0.5.
    Departs from the paper: step 0 gives 0.
    """
    _check(step=step, d_model=d_model, warmup=warmup)
    if d_model == 0 or warmup == 0:
        raise ValueError(f"d_model and warmup must be at least 1, got d_model={d_model}, warmup={warmup}")
    return 0.0 if step == 0 else d_model**-0.5 * min(step**-0.5, step * warmup**-1.5)


def cosine_schedule(step: int, total: int, warmup: int = 0, floor: float | int = 0.0) -> float:
    """A factor of the learning rate: 0 to 1 on a line in `warmup` steps, then half a cosine down to `floor` at `total`.

    floor + (1 - floor) * (1 + cos(pi * (step - warmup) / (total - warmup))) / 2, and `floor` after `total`.
    Source: Loshchilov & Hutter (2017, equation 5) without restarts; warm-up as in Goyal et al. (2017).
    """
    _check(step=step, total=total, warmup=warmup)
    if warmup >= total:
        raise ValueError(f"warmup must be less than total, got warmup={warmup} and total={total}")
    check_share("floor", floor)
    if step < warmup:
        return step / warmup
    done = min(1.0, (step - warmup) / (total - warmup))
    return floor + (1 - floor) * (1 + math.cos(math.pi * done)) / 2


def _check(**counts: int) -> None:
    for name, value in counts.items():
        check_count(name, value, minimum=0)
