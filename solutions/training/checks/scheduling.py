"""Question 2a: warm-up and cosine."""

from autograder.exercise.declare import question, values
from autograder.exercise.draw import Draw
from autograder.exercise.specification import Case


def _plan(draw: Draw) -> tuple[int, int, float]:
    """total, warmup, floor"""
    warmup = draw.integer(4, 9)
    return warmup + draw.integer(5, 12), warmup, draw.integer(1, 4) / 10


def _at(label: str, steps: list[int], plan: tuple[int, int, float]) -> list[Case]:
    return [Case(label=label, calls=tuple((step, *plan) for step in steps))]


def _rise(draw: Draw) -> list[Case]:
    plan = _plan(draw)
    return _at("the warm-up", [1, 2, plan[1] - 1], plan)


def _fall(draw: Draw) -> list[Case]:
    plan = total, warmup, _ = _plan(draw)
    return _at("the fall", [warmup + 2, (warmup + total) // 2, total - 2], plan)


def _meet(draw: Draw) -> list[Case]:
    plan = _plan(draw)
    return _at("the end of the warm-up", [plan[1], plan[1] + 1], plan)


def _end(draw: Draw) -> list[Case]:
    plan = total, warmup, _ = _plan(draw)
    none = (total, 0, 0.0)
    return [
        *_at("the end, and after it", [total - 1, total, total + 1, 2 * total - warmup], plan),
        *_at("no warm-up, floor 0", [1, total // 2, total], none),
    ]


SCHEDULE = question(
    "training.schedule",
    minutes=15,
    difficulty="easy",
    returns=("factor",),
    properties=[
        values("the warm-up", 0.5, _rise),
        values("the fall", 1, _fall),
        values("where they meet", 0.5, _meet),
        values("the end, and no warm-up", 1, _end),
    ],
    numpy=True,
    mistakes="""
warm-up-from-zero: Your warm-up counts from 0, so the whole first step is wasted at rate 0, and step `warmup` is not
at 1. Steps count from 1.
- return step / warmup → return (step - 1) / warmup
- warmup > step → warmup >= step

warm-up-too-long: Your warm-up ends one step late: step `warmup` should have the factor 1.
- return step / warmup → return step / (warmup + 1)
- warmup > step → warmup >= step

no-warm-up: There is no warm-up in your schedule. Before step `warmup` the factor grows in proportion to the step.
- if warmup > step:
-     return step / warmup →
- (step - warmup) → max(0, step - warmup)

cosine-from-step-zero: Your cosine starts at step 0, so at the end of the warm-up the factor jumps down. It falls from
1 at step `warmup` to the floor at step `total`: measure the fraction between these two.
- (step - warmup) / (total - warmup) → step / total

denominator-total: Your fraction of the fall divides by `total`, so at step `total` it is not 1 yet and the floor is
never reached. The fall takes `total − warmup` steps.
- / (total - warmup)) → / total)

one-step-late: Your fall starts one step too late. At step `warmup` the factor is 1, and the step after that is
already below it.
- (step - warmup) / (total - warmup) → max(0, step - warmup - 1) / (total - warmup)
or
- (step - warmup) / (total - warmup) → max(0, step - warmup - 1) / (total - warmup - 1)

rises-again: After `total` your factor rises again, because a cosine does. Stop the fraction at 1.
- min(1.0, (step - warmup) / (total - warmup)) → (step - warmup) / (total - warmup)

whole-wave: Your cosine runs through a whole wave: down and up again. Half a wave, the angles from 0 to π, only falls.
- math.pi * fallen → 2 * math.pi * fallen

quarter-wave: Your cosine falls over a quarter of a wave, so its end is steep. Half a wave, the angles from 0 to π, is
flat at both ends.
- (1 + math.cos(math.pi * fallen)) / 2 → math.cos(math.pi * fallen / 2)

floor-on-top: You added the floor to a curve that falls from 1 to 0, so the factor starts above 1. Between 1 and the
floor there is only 1 − floor to fall.
- floor + (1 - floor) * → floor +

floor-as-a-limit: You cut the curve off at the floor: it falls towards 0, meets the floor early and stays there. The
whole curve should be squeezed between 1 and the floor.
- floor + (1 - floor) * (1 + math.cos(math.pi * fallen)) / 2 → max(floor, (1 + math.cos(math.pi * fallen)) / 2)

floor-ignored: Your factor falls to 0. It should end at `floor`.
- floor + (1 - floor) * →

line: Your factor falls along a straight line. Half a cosine is flat at both ends and steep in the middle.
- (1 + math.cos(math.pi * fallen)) / 2 → (1 - fallen)

cosine-not-halved: 1 + cos goes from 2 to 0. Halve it, or the factor starts at nearly 2.
-  / 2 →
""",
)
