"""A judge that remembers how it was made, so that it can be rebuilt where the exercise's code is missing.

Students get an exercise as data (`autograder.question.public`). A judge's code contains no answer, so it is in a module
that students have as well, `judges`, one of `laws`, or the assignment's own `laws.py`, which a student's copy has in
`autograder.question.public.laws`; the data say which one, and with which arguments.

    recipe(same_values(("output",)))  ->  {"name": "autograder.question.judges.same_values", "arguments": …}
    make(recipe)                      ->  the same judge
"""

import functools
import importlib
import re
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from autograder import assignments

PUBLIC = "autograder.question.public.laws"
HOMES = ("autograder.question.judges", "autograder.question.laws", PUBLIC)
"""Modules that students have, including submodules."""


class CannotTravel(ValueError):  # noqa: N818 - said to the instructor
    """Something in an exercise that students cannot get as data. The text says what, and what to do."""


@dataclass(frozen=True, eq=False)
class Made:
    """A judge, or a rule of one, and how it was made."""

    name: str
    arguments: tuple[Any, ...]
    options: dict[str, Any]
    judge: Callable[..., str | None]

    def __call__(self, *given: Any) -> str | None:
        return self.judge(*given, *self.arguments, **self.options)


def travels(judge: Callable[..., str | None]) -> Callable[..., Made]:
    """For a judge or rule in `judges` or `laws` that takes more than the case and the outcomes: its name then builds
    judges from the further arguments. They must be numbers, texts, lists of them, or other such judges."""

    @functools.wraps(judge)
    def maker(*arguments: Any, **options: Any) -> Made:
        return Made(f"{judge.__module__}.{judge.__qualname__}", arguments, options, judge)

    return maker


def made_of(judge: Any) -> Iterator[str]:
    """The name of a judge, and the names of the judges and rules that it was built from."""
    name = judge.name if isinstance(judge, Made) else getattr(judge, "__name__", "")
    yield name.rpartition(".")[2]
    for part in (*judge.arguments, *judge.options.values()) if isinstance(judge, Made) else ():
        yield from made_of(part)


def recipe(value: Any) -> Any:
    """How to rebuild a judge, as JSON. Raises CannotTravel if it is not in a module that students have."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (list, tuple)):
        return [recipe(item) for item in value]
    if isinstance(value, Made):
        name = value.name
        made = {
            "arguments": recipe(value.arguments),
            "options": {key: recipe(option) for key, option in sorted(value.options.items())},
        }
    elif isinstance(value, types.FunctionType):
        name, made = f"{value.__module__}.{value.__qualname__}", {}
    else:
        raise CannotTravel(f"{value!r} in a judge is neither a number, a text, a list of them nor another judge")
    name = re.sub(r"^solutions\.(\w+)\.laws\.", rf"{PUBLIC}.\1.", name)
    if not _at_home(name):
        raise CannotTravel(
            f"the judge {name} stands where students do not have it: "
            "move it to solutions/<assignment>/laws.py, with @travels above it"
        )
    return {"name": name, **made}


def make(value: Any) -> Any:
    """What `recipe` described. Raises ValueError if it names anything outside `HOMES`."""
    if isinstance(value, list):
        return [make(item) for item in value]
    if not isinstance(value, dict):
        return value
    name = str(value["name"])
    if not _at_home(name):
        raise ValueError(f"recipe: {name!r} is no judge of {' or '.join(HOMES)}")
    place, _, attribute = name.rpartition(".")
    here = assignments.module(place.rpartition(".")[2], "laws") if place.startswith(f"{PUBLIC}.") else None
    found = getattr(here or importlib.import_module(place), attribute)
    if "arguments" not in value:
        return found
    options = {key: make(option) for key, option in value["options"].items()}
    return found(*make(value["arguments"]), **options)


def _at_home(name: str) -> bool:
    module, _, attribute = name.rpartition(".")
    return attribute.isidentifier() and any(module == home or module.startswith(f"{home}.") for home in HOMES)
