"""Question 4: early stopping."""

from autograder.exercise.declare import question, values
from autograder.exercise.draw import Draw
from autograder.exercise.specification import Case, case


def _falling(draw: Draw, count: int) -> list[float]:
    """Losses that all differ, from high to low."""
    steps = [draw.integer(1, 9) / 8 for _ in range(count)]
    return [1.0 + sum(steps[i:]) for i in range(count)]


def _after(draw: Draw, best: float, count: int) -> list[float]:
    """Losses above the best, each better than the one before it: no new best, but never worse than the previous."""
    steps = [draw.integer(1, 9) / 8 for _ in range(count)]
    return [best + sum(steps[i:]) for i in range(count)]


def _over(draw: Draw) -> list[Case]:
    """The patience is used up just now, or was long ago."""
    down = _falling(draw, draw.integer(2, 4))
    patience = draw.integer(2, 3)
    up = [down[-1] + i / 4 for i in range(1, patience + 1)]

    def ended(label: str, *after: float) -> Case:
        """Up to the best the training goes on; after it comes the end."""
        return Case(label=label, calls=((down, patience), ([*down, *after], patience)))

    return [
        ended("worse and worse", *up),
        ended("better again, but not the best", *_after(draw, down[-1], patience)),
        ended("more evaluations than patience", *_after(draw, down[-1], patience + 2)),
    ]


def _going_on(draw: Draw) -> list[Case]:
    down = _falling(draw, draw.integer(4, 6))
    patience = draw.integer(3, 4)
    setback = [down[0] + 1, down[0] + 2]
    on = [down[0], *_after(draw, down[0], patience), *down[1:]]
    return [
        case("a new best at the end", [down[0], *setback, *down[1:]], patience),
        case("one evaluation short of the patience", [*down, *_after(draw, down[-1], patience - 1)], patience),
        case("a setback now and then", [loss for best in down for loss in (best + 2, best)], 3),
        case("a new best although the patience was used up before", on, patience),
        case("two setbacks with a new best between them", [*down[:2], *setback, *down[2:], *setback], 3),
    ]


def _odd(draw: Draw) -> list[Case]:
    level = draw.integer(1, 9) / 4
    return [
        case("all losses equal", [level] * 4, 3),
        case("ties with the best", [level + 1, level, level + 1, level], 2),
        case("a single loss", [level], 1),
        case("patience 1", [level, level + 1], 1),
    ]


EARLY_STOPPING = question(
    "training.early_stopping",
    minutes=15,
    difficulty="easy",
    returns=("best", "stop"),
    properties=[
        values("which is the best", 0.5, _over, "best"),
        values("losses that end the training", 0.75, _over, "stop"),
        values("losses that do not", 0.75, _going_on),
        values("ties, a single loss", 0.5, _odd),
    ],
    numpy=True,
    mistakes="""
compared-with-the-previous: You compare each loss with the previous one, so a run that creeps back towards its best
counts as progress. Count the evaluations since the *best*.
- len(losses) - 1 - best >= patience
+ all(a <= b for a, b in zip(losses[-patience - 1 : -1], losses[-patience:])) and len(losses) > patience
or
- len(losses) - 1 - best >= patience
+ all(a < b for a, b in zip(losses[-patience - 1 : -1], losses[-patience:])) and len(losses) > patience

one-too-late: You stop one evaluation too late: `patience` evaluations without a new best are enough.
- >= patience → > patience

one-too-early: You stop one evaluation too early: with a patience of 2, two evaluations without a new best are needed.
- len(losses) - 1 - best → len(losses) - best

last-of-the-ties: Of equal losses you took the last as the best. A loss that only equals the best is no progress, so
the first counts.
- losses.index(min(losses)) → len(losses) - 1 - losses[::-1].index(min(losses))

last-is-best: You return the last index as the best. The best is the one with the lowest loss, and its weights are the
ones to keep.
- return best, → return len(losses) - 1,

loss-for-index: You return the lowest loss itself. Return its index.
- return best, → return min(losses),

ended-before: You stopped at the first moment when the patience was used up. The question is whether to stop *now*: the
losses after that moment count as well, and one of them may be the best.
- best = losses.index(min(losses))
+ for n in range(1, len(losses) + 1):
+         best = losses.index(min(losses[:n]))
+         if n - 1 - best >= patience:
+             return best, True

never-forgiven: You count all evaluations that brought no new best, over the whole run. A new best starts the count
again.
- len(losses) - 1 - best >= patience
+ sum(losses[i] >= min(losses[:i]) for i in range(1, len(losses))) >= patience

largest-for-best: You looked for the largest number. The best loss is the lowest.
- min(losses) → max(losses)

first-as-reference: You compare with the first loss. Any later loss may be the best so far: compare with that one.
- len(losses) - 1 - best >= patience → len(losses) > patience and min(losses[-patience:]) >= losses[0]
""",
)
