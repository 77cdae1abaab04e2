from typing import Any

import pytest

from autograder.mine.told import ABILITIES, needs, rows, shown
from autograder.question.find import find
from tests.autograder.mine.test_using import written


@pytest.mark.parametrize("ability", ABILITIES)
def test_an_ability_is_made_of_functions_that_a_library_can_have(ability: str) -> None:
    assert not any(find(name).chosen for name in needs(ability))


def test_it_says_what_is_there_and_what_is_lacking(open_notebook: Any) -> None:
    open_notebook.of("ngrams")
    assert "empty" in shown(open_notebook.library)
    written(open_notebook, "subwords", "learn_merges", "encode", "decode")
    written(open_notebook, "transformer", "load_block")
    (open_notebook.library / "subwords" / "notes.py").write_text("no function that is asked for")
    one, two = rows(open_notebook.library)
    assert (one.assignment, one.functions) == ("subwords", 3)
    assert one.asked > 3
    assert 3 * 5 < one.lines < 3 * 40
    told = shown(open_notebook.library)
    can, lacks = told[told.index("It can") :].split("It lacks")
    assert "encode" in can
    assert "4 to run SmolLM2" in lacks
    assert two.functions == 1
