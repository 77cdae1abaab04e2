"""What a signature allows is what is accepted, in every public function that reads its annotations (`checked`).

So no other test repeats it: those hold what a function says by itself, where annotations end.
"""

import ast
import importlib
import importlib.util
import inspect
import pkgutil
from collections.abc import Callable, Iterator
from typing import Any, get_args
from unittest.mock import MagicMock

import pytest

from nlmcore import checks

CHECKED = {
    **{"attention": 21, "autodiff": 3, "compression": 2, "convolutional": 9, "corpora": 8, "decoding": 17},
    **{"diagnostics": 5, "feedforward": 6, "inspect": 8, "metrics": 7, "norms": 1, "objectives": 5, "pictures": 1},
    **{"positions": 20, "recurrent": 19, "retrieval": 2, "scaling": 2, "seq2seq": 11, "tokens": 4, "tool": 5},
    **{"training": 16, "transfer": 5, "transformer": 8, "variants": 23, "vision": 12, "word2vec": 9},
}
"""How many functions and methods of a room read their annotations: at least. With one less, a user would no longer hear
what does not fit."""


def doors(room: str) -> Iterator[tuple[str, Callable[..., Any]]]:
    """What stands under `@checked` in the room's source: a module's own functions and its classes' methods."""
    spec = importlib.util.find_spec(f"nlmcore.{room}")
    assert spec is not None
    inside = pkgutil.iter_modules(spec.submodule_search_locations or [])
    for name in (spec.name, *(f"{spec.name}.{found.name}" for found in inside)):
        module = importlib.import_module(name)
        for node in ast.parse(inspect.getsource(module)).body:
            thing = getattr(module, getattr(node, "name", ""), None)
            for part in node.body if isinstance(node, ast.ClassDef) else [node]:
                if isinstance(part, ast.FunctionDef) and "checked" in map(called, part.decorator_list):
                    found = thing if part is node else vars(thing)[part.name]
                    yield f"{name}.{part.name}", getattr(found, "__func__", found)  # of a class or static method


def called(decorator: ast.expr) -> str:
    name = decorator.func if isinstance(decorator, ast.Call) else decorator
    return name.id if isinstance(name, ast.Name) else ""


def ranges(annotation: Any) -> list[checks.Range]:
    """Those of an annotation, and of an optional one."""
    return [r for part in get_args(annotation) for r in ([part] if isinstance(part, checks.Range) else ranges(part))]


@pytest.mark.parametrize("room", CHECKED)
def test_what_a_signature_does_not_allow_is_refused_by_name(plain_errors: None, room: str) -> None:
    found = list(doors(room))
    assert len(found) >= CHECKED[room], "a function no longer reads its annotations"
    for name, function in found:
        parameters = inspect.signature(function).parameters
        me = [MagicMock()] if next(iter(parameters)) in ("self", "cls") else []
        for word, parameter in parameters.items():
            if checks.check_for(parameter.annotation) is None:
                continue
            below = [r.low if r.above else r.low - 1 for r in ranges(parameter.annotation)]
            for wrong in (object(), *below):
                with pytest.raises((TypeError, ValueError)) as refused:
                    function(*me, **{word: wrong})
                assert str(refused.value).startswith(f"{word} must"), f"{name} of {word}={wrong}: {refused.value}"
