"""Exercises in the form that students get: public examples, the right results, and the named mistakes, as data.

`write` puts a declared exercise into JSON and tensors; `read` turns them back into an `Exercise` whose reference and
misconceptions are `Recording`s. So the visible check says the same for a declaration and for the data: there is one
code path, and only the source of the answers differs. Hidden inputs cannot be generated from the data.

Next to this file, in a student's copy, are `<assignment>.json` and `<assignment>.safetensors`.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import safetensors.torch
import torch
from torch import Tensor

from autograder.question.interview import Answers, Recording, questions, right_answers
from autograder.question.mistakes import known_mistakes, planted_answers
from autograder.question.outcome import Fault, Outcome
from autograder.question.smaller import smaller
from autograder.question.specification import Case, Exercise, Misconception, Property, Small
from autograder.question.travel import CannotTravel, make, recipe

FOLDER = Path(__file__).resolve().parent
VERSION = 5
PLAIN = ("name", "title", "signature", "minutes", "difficulty", "core", "together", "tolerance", "numpy")
LISTS = ("arguments", "returns", "closed", "chosen", "nearly")


def write(exercises: Mapping[str, Exercise]) -> tuple[bytes, bytes]:
    """(JSON, safetensors) of an assignment's exercises: the same bytes for the same exercises.

    Raises CannotTravel, which names the exercise and the property, for anything that cannot become data.
    """
    store = _Store()
    document = {"version": VERSION, "exercises": [_write(exercise, store) for exercise in exercises.values()]}
    text = json.dumps(document, ensure_ascii=False, indent=1, sort_keys=True) + "\n"
    return text.encode(), safetensors.torch.save(store.tensors)


def read(text: bytes, tensors: bytes) -> dict[str, Exercise]:
    """The exercises that `write` wrote. Raises ValueError for a different version of the format."""
    document = json.loads(text)
    if document.get("version") != VERSION:
        raise ValueError(f"the examples are of version {document.get('version')!r}, and this course reads {VERSION}")
    store = safetensors.torch.load(tensors)
    made = [_read(row, store) for row in document["exercises"]]
    return {exercise.name: exercise for exercise in made}


def read_exercises(assignment: str, folder: Path = FOLDER) -> dict[str, Exercise]:
    """The exercises of an assignment, from this copy's data; none if there is no such data."""
    text = folder / f"{assignment}.json"
    if not assignment.isidentifier() or not text.exists():
        return {}
    return read(text.read_bytes(), text.with_suffix(".safetensors").read_bytes())


class _Store:
    """Tensors to be written into one file, without duplicates."""

    def __init__(self) -> None:
        self.tensors: dict[str, Tensor] = {}
        self._names: dict[tuple[Any, ...], str] = {}

    def put(self, tensor: Tensor) -> dict[str, Any]:
        tensor = tensor.detach()
        flat = tensor.clone(memory_format=torch.contiguous_format)  # strides too: one number may have any
        content = flat.reshape(-1).view(torch.uint8).numpy().tobytes() if flat.numel() else b""  # no view of nothing
        key = (flat.dtype, tuple(flat.shape), content)
        name = self._names.setdefault(key, str(len(self._names)))
        self.tensors.setdefault(name, flat)
        return {"tensor": name} | ({} if tensor.is_contiguous() else {"stride": list(tensor.stride())})


def _value(value: Any, store: _Store) -> Any:
    """An argument as JSON; a value without a JSON form becomes an object with one key."""
    if isinstance(value, Tensor):
        return store.put(value)
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, list):
        return [_value(item, store) for item in value]
    if isinstance(value, tuple):
        return {"tuple": [_value(item, store) for item in value]}
    if isinstance(value, dict):
        return {"pairs": [[_value(key, store), _value(item, store)] for key, item in value.items()]}
    raise CannotTravel(f"an argument is of type {type(value).__name__}; allowed: tensors, numbers, text, lists of them")


def _back(value: Any, store: Mapping[str, Tensor]) -> Any:
    if isinstance(value, list):
        return [_back(item, store) for item in value]
    if not isinstance(value, dict):
        return value
    if "tuple" in value:
        return tuple(_back(item, store) for item in value["tuple"])
    if "pairs" in value:
        return {_back(key, store): _back(item, store) for key, item in value["pairs"]}
    tensor = store[value["tensor"]]
    if "stride" in value:
        return torch.empty_strided(tensor.shape, value["stride"], dtype=tensor.dtype).copy_(tensor)
    return tensor.clone()


def _write(exercise: Exercise, store: _Store) -> dict[str, Any]:
    asked = questions(exercise)

    def recorded(rows: Sequence[Answers]) -> list[Any]:
        return [[_outcome(outcome, store) for outcome in row] for row in rows]

    known = known_mistakes(exercise)
    try:
        return {
            **{key: getattr(exercise, key) for key in PLAIN},
            **{key: list(getattr(exercise, key)) for key in LISTS},
            "properties": [
                _property(prop, [q.case for q in asked if q.about is prop], small, store)
                for prop, small in zip(exercise.properties, smaller(exercise), strict=True)
            ],
            "reference": recorded(right_answers(exercise)),
            "planted": None if exercise.planted is None else recorded(planted_answers(exercise)),
            "misconceptions": [
                {
                    "id": mistake.id,
                    "sentence": mistake.sentence,
                    "looks_like": list(mistake.looks_like),
                    "ways": [recorded(one.given) for one in known if one.misconception is mistake],
                }
                for mistake in exercise.misconceptions
            ],
        }
    except CannotTravel as error:
        raise CannotTravel(f"{exercise.name}: {error}") from None


def _property(prop: Property, cases: list[Case], small: Sequence[Small], store: _Store) -> dict[str, Any]:
    try:
        return {
            "name": prop.name,
            "points": prop.points,
            "outputs": None if prop.outputs is None else list(prop.outputs),
            "judge": recipe(prop.judge),
            "cases": [_case(case, store) for case in cases],
            "smaller": [[_case(case, store), [_outcome(outcome, store) for outcome in row]] for case, row in small],
        }
    except CannotTravel as error:
        raise CannotTravel(f"“{prop.name}”: {error}") from None


def _case(case: Case, store: _Store) -> dict[str, Any]:
    return {
        "label": case.label,
        "calls": [[_value(argument, store) for argument in call] for call in case.calls],
        "known": [store.put(tensor) for tensor in case.known],
    }


def _outcome(outcome: Outcome, store: _Store) -> dict[str, Any]:
    """A fault is reduced to its kind, because its message and its line would quote the code."""
    return {
        "outputs": [store.put(tensor) for tensor in outcome.outputs],
        "fault": None if outcome.fault is None else outcome.fault.kind,
        "changed": list(outcome.changed),
    }


def _read(row: Mapping[str, Any], store: Mapping[str, Tensor]) -> Exercise:
    def recording(rows: Any) -> Recording:
        return Recording(tuple(_answers(answer, store) for answer in rows))

    plain: dict[str, Any] = {key: row[key] for key in PLAIN} | {key: tuple(row[key]) for key in LISTS}
    return Exercise(
        **plain,
        properties=tuple(_read_property(prop, store) for prop in row["properties"]),
        reference=recording(row["reference"]),
        planted=None if row["planted"] is None else recording(row["planted"]),
        misconceptions=tuple(
            Misconception(
                id=mistake["id"],
                sentence=mistake["sentence"],
                looks_like=tuple(mistake["looks_like"]),
                implementation=recording(mistake["ways"][0]),
                also=tuple(recording(way) for way in mistake["ways"][1:]),
            )
            for mistake in row["misconceptions"]
        ),
    )


def _read_property(row: Mapping[str, Any], store: Mapping[str, Tensor]) -> Property:
    cases = [_read_case(case, store) for case in row["cases"]]
    return Property(
        name=row["name"],
        points=row["points"],
        outputs=None if row["outputs"] is None else tuple(row["outputs"]),
        judge=make(row["judge"]),
        cases=lambda draw: cases,
        smaller=tuple((_read_case(case, store), _answers(right, store)) for case, right in row["smaller"]),
    )


def _read_case(row: Any, store: Mapping[str, Tensor]) -> Case:
    return Case(
        label=row["label"],
        calls=tuple(tuple(_back(argument, store) for argument in call) for call in row["calls"]),
        known=tuple(_back(tensor, store) for tensor in row["known"]),
    )


def _answers(row: Any, store: Mapping[str, Tensor]) -> Answers:
    return tuple(
        Outcome(
            outputs=tuple(_back(tensor, store) for tensor in outcome["outputs"]),
            fault=None if outcome["fault"] is None else Fault(kind=outcome["fault"], words=outcome["fault"]),
            changed=tuple(outcome["changed"]),
        )
        for outcome in row
    )
