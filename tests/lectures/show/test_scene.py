"""Where a captioner looks, drawn on the picture."""

import numpy as np
import pytest

from lectures import show


def test_the_frames_are_where_the_weight_is() -> None:
    weights = np.array([[0.02, 0.08], [0.9, 0.0]])
    picture = show.scene_svg(np.eye(4), [("one", weights)], title="a diagonal", note="one word")
    assert picture.count('stroke="#D55E00"') == 2, "weights below 0.05 have no frame"
    assert 'aria-label="a diagonal. one: most weight, 0.90, on row 2, column 1. one word"' in picture
    assert picture.count("<image") == 2


def test_shapes_are_checked() -> None:
    with pytest.raises(ValueError, match="matrices"):
        show.scene_svg(np.zeros(4), [])
    with pytest.raises(ValueError, match="matrices"):
        show.scene_svg(np.eye(4), [("one", np.zeros(3))])
