"""Whoever follows CONTRIBUTING to the letter succeeds: its examples are put together here, as the guide says."""

import json
import math
import re
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

import nlmcore.corpora
from autograder.texts import figures, text
from lectures import facts, show
from lectures.recipes.report import page
from lectures.show import live, said, slider
from lectures.show.controls import Live
from lectures.show.plot import Axis, Plot
from lectures.show.svg import Canvas
from nlmcore.checks import Probability, checked
from nlmcore.decoding import sample
from nlmcore.recurrent import RecurrentLM
from nlmcore.variants.catalogue import other, plain
from tests.laws import assert_language_model
from tests.lectures.runs import a_run

NAME = "CONTRIBUTING.md"
ROOT = Path(__file__).resolve().parents[1]
GUIDE = (ROOT / NAME).read_text(encoding="utf-8")


def example(section: str) -> list[str]:
    """The Python of a section, each block by itself."""
    text = GUIDE.partition(f"\n## {section}\n")[2].partition("\n## ")[0]
    assert text, f"there is no section {section!r}"
    blocks = re.findall(r"^( *)```python\n(.*?)^ *```", text, re.DOTALL | re.MULTILINE)
    return [re.sub(rf"^{indent}", "", code, flags=re.MULTILINE) for indent, code in blocks]


def run(code: str, **known: Any) -> dict[str, Any]:
    space = {"Callable": Callable, "Sequence": Sequence, "math": math, "Tensor": Tensor, "Float": Float, **known}
    exec(compile(code, NAME, "exec"), space)
    return space


def test_a_new_sampler() -> None:
    rule, use = example("A new sampler")
    keep = run(rule, checked=checked, Probability=Probability)["keep_epsilon"]
    torch.manual_seed(0)
    known = {"model": RecurrentLM(7, "gru", d_hidden=4), "prompt": torch.tensor([[1]]), "sample": sample}
    assert run(use, **known, partial=partial, keep_epsilon=keep)["written"].tokens.shape == (1, 50)
    kept = keep(torch.tensor([[0.6, 0.3, 0.1]]).log(), 0.2)
    assert kept.isfinite().tolist() == [[True, True, False]]


def test_a_new_variant() -> None:
    [part] = example("A new variant")
    [line] = re.findall(r"`(other\(.*squared_relu.*\)),`", GUIDE)
    squared = SimpleNamespace(squared_relu=run(part, F=F)["squared_relu"])
    row = eval(line, {"other": other, "plain": plain, "squared": squared})
    model = row.build(7, d_model=8, n_heads=2, n_layers=1, d_ff=12, max_length=6)
    assert_language_model(model, torch.tensor([[1, 2, 3, 4, 5], [6, 5, 4, 3, 2]]))
    assert squared.squared_relu(torch.tensor([-3.0, 0.5])).tolist() == [0.0, 0.25]


def test_a_new_experiment(tmp_path: Path) -> None:
    [recipe] = example("A new experiment")
    run(recipe)["cook"](a_run(tmp_path))
    assert json.loads((tmp_path / "copying_width.json").read_text(encoding="utf-8"))["right"].keys() == {"4", "6"}
    assert "Does a wider GRU copy more" in page(tmp_path)


def test_a_new_lecture() -> None:
    [lecture] = example("A new lecture")
    known: dict[str, Any] = {}
    for cell in text.from_text(lecture, ROOT).cells:
        if cell.cell_type == "code":
            exec(cell.source, known)
    found, wrong = facts.values(figures.expressions(lecture), known)
    assert len(found) == 3
    assert [*wrong, *facts.untrue(lecture, found)] == []


def test_a_new_corpus(monkeypatch: pytest.MonkeyPatch) -> None:
    made = run(example("A new corpus")[0])["letters"]
    monkeypatch.setitem(nlmcore.corpora._LOADERS, "letters", made)
    letters = nlmcore.corpora.load("letters")
    names = {d.text: d.target for part in (letters.train, letters.valid, letters.test) for d in part}
    assert names["ß"] == "LATIN SMALL LETTER SHARP S"


def test_a_new_picture_and_a_new_widget() -> None:
    picture = defined(run(example("A new picture")[0], Canvas=Canvas, Plot=Plot, Axis=Axis))
    widget, its_test = example("A new widget")
    made = defined(run(widget, live=live, slider=slider, said=said, Live=Live, **picture))
    for test in defined(run(its_test, widgets=SimpleNamespace(**made))).values():
        test()


def defined(space: dict[str, Any]) -> dict[str, Any]:
    """The functions that an example defines."""
    return {name: f for name, f in space.items() if getattr(getattr(f, "__code__", None), "co_filename", "") == NAME}


def test_a_new_prediction() -> None:
    cell = example("A new prediction")[0]
    run(cell, show=show, unigram=0.0123, bigram=0.61)
