"""Patches, digits by number, skewing, chorales and captions: controls move, pictures and words follow."""

import re

import numpy as np
import torch

from lectures import widgets
from nlmcore.positions import relative_shift
from nlmcore.vision import to_patches
from tests.lectures.seen import seen
from tests.pictures import nameless_in_html

IMAGE = np.arange(64.0).reshape(8, 8) / 64


def test_a_patch_is_cut_out() -> None:
    play = widgets.patch_playground(to_patches, {"ramp": IMAGE}, yours=lambda x, size: to_patches(x.mT, size))
    assert "8 × 8 pixels in squares of 4: 4 tokens of 16 values, 16 pairs for attention" in seen(play)
    assert "yours draws a different picture" in seen(play)
    assert "patch 6: row 2, column 2, brightness 0.28 to 0.42" in seen(play, size=2, patch=6)
    assert len(re.findall(r'data-sets="patch=\d+"', seen(play))) == 2 * 16
    assert "size must divide height and width, got 16 for images of 8 × 8" in seen(play, size=16)


def test_the_last_patch_is_the_last() -> None:
    play = widgets.patch_playground(to_patches, {"ramp": IMAGE})
    assert "patch 4: row 2, column 2" in seen(play, patch=64)


def test_what_excites_a_channel() -> None:
    drawn = widgets.excited_svg({"layer 1": [[IMAGE[:3, :3]] * 4, [IMAGE[:3, :3]] * 4], "layer 2": [[IMAGE]]})
    assert drawn.count("<image") == 2 * 4 + 1
    assert "layer 1 with 2, layer 2 with 1" in drawn
    assert not nameless_in_html(drawn)


DATA = {"right": {"CNN": {"100": [0.9, 0.8], "300": [1.0, 0.9]}, "ViT": {"100": [0.5, 0.7], "300": [0.8, 0.8]}}}


def test_digits_by_number() -> None:
    play = widgets.digits_explorer(DATA)
    assert "CNN: 85.0 % (80 to 90) with 100, 95.0 % (90 to 100) with 300" in seen(play)
    assert "ViT: 60.0 % (50 to 70) with 100" in seen(play)
    assert "ViT" not in seen(play, second="CNN")


def test_skewing_is_what_the_library_does() -> None:
    for length in (3, 5, 8):
        distances = torch.arange(length - 1.0, -1, -1).repeat(length, 1)
        last = widgets.beyond_text.skewing.stages(length)[-1]
        expected = relative_shift(distances).numpy()
        for (i, j), shown in np.ndenumerate(last):
            assert shown == (expected[i, j] if j <= i else -2)


def test_skewing_is_stepped_and_checked() -> None:
    def wrong(x: torch.Tensor) -> torch.Tensor:
        return x

    play = widgets.skew_player(relative_shift, yours=wrong)
    assert "Distances by rows: × × × × 0; × × × 1 0" in seen(play)
    assert "zero × × × × 0" in seen(play, step=2)
    assert "Distances by rows: 0 × × × ×; 1 0 × × ×" in seen(play, step=4)
    assert "result agrees with" in seen(play)
    assert "result differs from" in seen(play)


def test_a_chorale_is_seen_and_heard() -> None:
    voices = np.tile([[72], [67], [64], [48]], 80)
    play = widgets.chorale_player({"a": {"as written": voices, "ours": voices + 1}}, given={"a": 8}, note="listen")
    first = seen(play)
    assert first.count("<audio") == 1
    assert "The first 8 sixteenths are given" in first
    assert "The first chord: C5, G4, E4, C3" in first
    assert "The first chord: C♯5, A♭4, F4, C♯3" in seen(play, version="ours")
    assert "quarters 5 to 20" in seen(play, first=5)
    assert "are given" not in seen(play)
    whole = len(seen(play))
    assert seen(play, heard="bass").count('opacity="0.18"') == 3
    assert abs(len(seen(play)) - whole) < 2000


def test_distances_are_named() -> None:
    weights = np.zeros((2, 3, 9))
    weights[1, 2, 4], weights[1, 2, 3] = 0.6, 0.2
    play = widgets.distance_explorer(weights + 1e-9)
    assert "4 back 0.60, 3 back 0.20" in seen(play, layer=2, head=3)
    assert "On the voice that is predicted (3, 7, 11, … back): 25% of" in seen(play)


ROW = {"all": [1.0, 2.0], "held": [0.5, 0.7], "changed": [3.0, 3.2], "by_voice": [[1, 2, 3, 4], [2, 3, 4, 5]]}


def test_losses_of_some_notes() -> None:
    alone = {key: value if key == "by_voice" else 1.25 for key, value in ROW.items()} | {"by_voice": [1, 2, 3, 9]}
    play = widgets.chorale_losses({"rows": {"relative": ROW}, "without": {"7-gram": alone}})
    assert "relative 1.500 ± " in seen(play)
    assert "Kneser–Ney 1.250" in seen(play)
    assert "relative 4.500" in seen(play, measure="bass")
    assert "Kneser–Ney 9.000" in seen(play)


def test_attention_in_a_box() -> None:
    weights = np.zeros((2, 2, 4))
    weights[0, 0, 0], weights[0, 1, 3] = 0.75, 0.25
    weights[1, 1, 3] = 1.0
    shown = widgets.Shown(np.zeros((8, 16)), ["a", "cup"], weights, {"cup": (5, 13, 8, 16), "star": (0, 0, 5, 3)})
    play = widgets.caption_explorer({"ours": [shown]})
    assert "a [cup]: 100% in the box of the cup, 0% in the box of the star" in seen(play)
    assert "[a] cup: 25% in the box of the cup, 75% in the box of the star" in seen(play, word=1)
