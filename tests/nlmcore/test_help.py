"""What a user meets: `help`, the names of a room, and types that a checker and a reader can read."""

import importlib
import pkgutil
import pydoc
from pathlib import Path

import pytest

import nlmcore
from nlmcore.decoding import sample
from nlmcore.transformer import TransformerConfig
from nlmcore.transformer.config import PARTS

ROOMS = [module.name for module in pkgutil.iter_modules(nlmcore.__path__) if module.name != "checks"]


@pytest.mark.parametrize("name", ROOMS)
def test_a_room_lists_its_names_and_help_says_a_line_for_each_function(name: str) -> None:
    room = importlib.import_module(f"nlmcore.{name}")
    own = {
        word
        for word, thing in vars(room).items()
        if not word.startswith("_") and str(getattr(thing, "__module__", "")).startswith(room.__name__)
    }
    assert own <= set(room.__all__)
    text = pydoc.plain(pydoc.render_doc(room))
    for word in room.__all__:
        assert word in text
        if word in own:
            assert getattr(room, word).__doc__, f"{name}.{word} has no docstring"


def test_every_search_and_sampler_is_named() -> None:
    text = pydoc.plain(pydoc.render_doc(nlmcore.decoding))
    for word in ("greedy(", "sample(", "beam_search(", "minimum_bayes_risk(", "speculative_sample("):
        assert f"\n    {word}" in text


def test_a_signature_says_which_numbers_are_allowed() -> None:
    text = pydoc.plain(pydoc.render_doc(sample)).replace("typing.", "")  # Python 3.13 writes it less often
    assert "num_samples: Annotated[int, ≥ 1] = 1" in text
    assert "top_p: Optional[Annotated[float | int, in [0, 1]]] = None" in text


def test_every_field_of_a_configuration_has_a_line_and_every_part_what_it_is_given() -> None:
    lines = TransformerConfig.__doc__ or ""
    said = {line.split()[0]: line for line in lines.splitlines() if line.strip()}
    assert TransformerConfig.__dataclass_fields__.keys() <= said.keys()
    assert all(f"[{takes}]" in " ".join(lines.split()) for takes in PARTS.values())


def test_a_type_checker_reads_the_annotations() -> None:
    assert (Path(nlmcore.__file__).parent / "py.typed").is_file()
