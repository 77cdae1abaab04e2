"""Lines, planes, cliffs and shaded words, and the widgets made of them."""

import pytest

from lectures import show


@pytest.mark.parametrize("name", list(show.CIRCUITS))
def test_circuits_read_only_what_is_there(name: str) -> None:
    parts = show.CIRCUITS[name]
    picture = show.cell_svg(parts, {part.name: 0.25 for part in parts}, alt=name)
    assert picture.count(">0.250<") == len(parts)
    before: set[str] = set()
    for part in parts:
        assert set(part.reads) <= before, "in the order of computing"
        before.add(part.name)
    with pytest.raises(ValueError, match="which is not a part of the circuit"):
        show.cell_svg(parts[1:], {}, alt=name)


@pytest.mark.parametrize(("layers", "both"), [(1, False), (2, False), (1, True)])
def test_an_unrolled_network_has_a_box_per_state(layers: int, both: bool) -> None:
    picture = show.unrolled_svg(["a", "b", "c"], [None, None, "yes"], layers=layers, both=both, alt="a network")
    assert picture.count('height="40.0"') == 3 * layers * (2 if both else 1)
    assert picture.count(">yes<") == 1
    with pytest.raises(ValueError, match="one output"):
        show.unrolled_svg(["a"], [], alt="x")
    with pytest.raises(ValueError, match="layers"):
        show.unrolled_svg(["a"], ["b"], alt="x", layers=0)


def test_words_and_outputs_meet_both_directions() -> None:
    """Per column: word → h, word → h′, h → output, h′ → output; between columns one arrow in each direction."""
    heads = [
        show.unrolled_svg(["a", "b", "c"], ["x", "y", "z"], both=both, weights=False, alt="a network").count("<polygon")
        for both in (False, True)
    ]
    assert heads == [3 * 2 + 2, 3 * 4 + 2 * 2]
    with pytest.raises(ValueError, match="one layer"):
        show.unrolled_svg(["a"], ["b"], alt="x", layers=2, both=True)


def test_an_output_is_the_next_input() -> None:
    plain, fed = (
        show.unrolled_svg(["<bos>", "a", "man"], ["a", "man", "was"], feedback=feedback, alt="a network")
        for feedback in (False, True)
    )
    assert fed.count("<polygon") == plain.count("<polygon") + 2, "the last output has no next input"
    assert show.CIRCUITS["GRU"][4].reads == ("r", "h"), "what is reset is a product with h"
