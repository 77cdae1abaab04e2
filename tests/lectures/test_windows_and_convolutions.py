"""What the functions, filters and pictures of the lecture `windows_and_convolutions` must do."""

import numpy as np
import pytest
import torch

from lectures.widgets.windows_and_convolutions import architecture


def test_averaging_forgets_the_order(ran: dict) -> None:
    same = {name: [float(value) == 0 for value in values] for name, *values in ran["differences"]}
    assert same == {"concatenated": [False, False], "averaged": [True, False]}


def test_your_filter_begins_right(ran: dict) -> None:
    x = np.array(ran["signal"])
    for w in ran["filters"].values():
        assert np.allclose(ran["my_convolve"](x, np.array(w)), ran["convolve"](x, np.array(w)))


def test_which_letters_fire(ran: dict) -> None:
    def pulls(text: str) -> dict[str, float]:
        found = ran["read"](text)
        strongest = {}
        for (width, answers), pull in zip(found.responses, found.pull, strict=True):
            place = int(answers.argmax())
            key = "".join(found.letters[place : place + width]).strip("· ")
            strongest[key] = max(strongest.get(key, 0.0), pull, key=abs)
        return strongest

    for text, letters in {
        "If Musicke be the food of Loue, play on": ("loue", "cke"),
        "And all our yesterdayes haue lighted Fooles": ("haue",),
        "Heere's the smell of the blood still": ("eere",),
    }.items():
        assert all(pulls(text)[group] > 1 for group in letters)
        assert ran["read"](text).probability > 0.8
    assert pulls("If music be the food of love, play on")["ove"] < -1
    universe = pulls("a virus in the universe")
    assert all(universe[group] < -1 for group in ("ive", "iver", "vers"))
    romeo = ran["read"]("O Romeo, Romeo, wherefore art thou Romeo?")
    assert romeo.probability < 0.5
    assert np.abs(romeo.pull).max() < 0.5, "'no filter fires strongly'"


def test_the_explorer_and_the_model_agree(ran: dict) -> None:
    """The filters' responses are checked one by one; together they must be what the network computes."""
    text = "And all our yesterdayes haue lighted Fooles"
    found, model = ran["read"](text), ran["spelling"]
    tokens = torch.tensor([ran["symbols"].encode(ran["plain"](text))])
    strongest = torch.tensor([answers.max() for _, answers in found.responses])
    assert torch.allclose(strongest, model.features(tokens)[0], atol=1e-5)
    difference = (model(tokens)[0, 1] - model(tokens)[0, 0]).item()
    bias = (model.output.bias[1] - model.output.bias[0]).item()
    assert found.pull.sum() + bias == pytest.approx(difference, abs=1e-4)


@pytest.mark.parametrize("kind", ["convolution", "window", "recurrent", "attention"])
def test_what_is_drawn_is_what_is_measured(ran: dict, kind: str) -> None:
    n = len(ran["sentence"])
    for layers, kernel, dilated, at in ((1, 3, False, 15), (3, 2, True, 15), (2, 4, False, 7), (4, 2, True, 9)):
        dilations = tuple(2**i if dilated else 1 for i in range(layers))
        rows, edges = architecture(kind, layers, kernel, dilations, n)
        lit, stack = {(len(rows), at)}, [(len(rows), at)]
        while stack:
            end = stack.pop()
            new = {source for source, to in edges if to == end} - lit
            lit |= new
            stack += new
        drawn = {time for row, time in lit if row == 0}
        measured = {t for t, value in enumerate(ran["measure"](kind, layers, kernel, dilations, at)) if value > 0}
        assert drawn == measured


def test_who_sees_the_cat(ran: dict) -> None:
    cat = ran["sentence"].index("cat")
    seen = {
        (layers, kernel): ran["measure"]("convolution", layers, kernel, tuple(2**i for i in range(layers)), 15)[cat] > 0
        for layers in (1, 2, 3)
        for kernel in (2, 3, 4)
    }
    assert [setting for setting, sees in seen.items() if sees] == [(3, 3), (3, 4)]
