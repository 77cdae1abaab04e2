"""Patches of a picture as a sequence, one under the mouse; what excites channels; digits, by the number of images."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor

from lectures.show import Canvas, Live, bands_svg, choice, from_to, live, menu, said, slider, stops
from lectures.show.svg import ORANGE, png_address
from lectures.show.touch import pressable

Cut = Callable[[Tensor, int], Tensor]
"""(images (batch, row, column), size) -> patches (batch, patch, pixel)."""
SHOWN, PRESSED, HIGH = 9, 700, 380


def grey(image: ArrayLike) -> str:
    """Brightness from 0 to 1, as the address of an image."""
    return png_address((255 * np.clip(np.asarray(image, dtype=float), 0, 1)).astype(np.uint8), level=1)


def patch_playground(cut: Cut, pictures: Mapping[str, ArrayLike], *, yours: Cut | None = None) -> Live:
    """pictures: name -> brightness (row, column). Press a patch, or move the slider, to see it in the sequence."""
    images = {name: torch.as_tensor(np.asarray(image, dtype=np.float32)) for name, image in pictures.items()}

    def draw(cut: Cut, picture: str, size: int, patch: int) -> str:
        image = images[picture]
        patches = cut(image.unsqueeze(0), size)[0]
        return patches_svg(image.numpy(), patches.numpy(), size, min(patch, len(patches)) - 1, picture)

    most = max(image.numel() for image in images.values())
    return live(
        draw,
        cut,
        yours=yours,
        picture=choice(images, "picture"),
        size=stops([1, 2, 4, 8, 16, 32], 4, "patch size", "260px"),
        patch=slider(1, 1, most, 1, "patch", "460px"),
        rows=[["picture"], ["size", "patch"]],
    )


def patches_svg(image: np.ndarray, patches: np.ndarray, size: int, chosen: int, name: str) -> str:
    """The picture under its grid, and the sequence around the chosen patch; each patch can be pressed."""
    rows, columns = (length // size for length in image.shape)
    canvas, side = Canvas(), HIGH / image.shape[0]
    wide, step, top = side * image.shape[1], side * size, 8
    canvas.photograph(grey(image), 4, top, wide, HIGH)
    if len(patches) <= PRESSED:
        for k in range(len(patches)):
            canvas.rect(
                4 + step * (k % columns), top + step * (k // columns), step, step, "transparent", ORANGE, 0.5,
                data_sets=f"patch={k + 1}", style="cursor:pointer",
            )  # fmt: skip
    row, column = divmod(chosen, columns)
    canvas.rect(4 + step * column, top + step * row, step, step, stroke=ORANGE, wide=4)
    first = max(0, min(chosen - SHOWN // 2, len(patches) - SHOWN))
    across = wide + 40
    canvas.text(across, 22, "the sequence", 16, bold=True)
    for i, k in enumerate(range(first, min(first + SHOWN, len(patches)))):
        x, y = across + 104 * (i % 3), 40 + 112 * (i // 3)
        canvas.photograph(grey(patches[k].reshape(size, size)), x, y, 84, 84)
        canvas.rect(x, y, 84, 84, stroke=ORANGE if k == chosen else "#999", wide=4 if k == chosen else 1)
        canvas.text(x + 42, y + 102, f"{k + 1}", 15, "middle", bold=k == chosen)
    n, pixels = patches.shape
    values = patches[chosen]
    told = (
        f"{image.shape[0]} × {image.shape[1]} pixels in squares of {size}: {n:,} tokens of {pixels:,} values,"
        f" {n * n:,} pairs for attention"
    )
    at = f"patch {chosen + 1}: row {row + 1}, column {column + 1}, brightness {values.min():.2f} to {values.max():.2f}"
    alt = f"The picture {name} of {told}. In the sequence, {rows} rows of {columns}, {at}."
    return canvas.svg(alt, more=pressable(), role="group") + said(f"{told}; {at}")


def excited_svg(layers: Mapping[str, Sequence[Sequence[ArrayLike]]]) -> str:
    """layers: name -> for each channel the windows of the pictures that excite it most, one line of pictures each."""
    canvas, y = Canvas(), 8.0
    for name, channels in layers.items():
        canvas.text(4, y + 16, name, 16, bold=True)
        y += 26
        for windows in channels:
            for k, window in enumerate(windows):
                canvas.photograph(grey(window), 4 + 62 * k, y, 56, 56)
                canvas.rect(4 + 62 * k, y, 56, 56, stroke="#999", wide=1)
            y += 62
        y += 8
    told = ", ".join(f"{name} with {len(channels)}" for name, channels in layers.items())
    return canvas.svg(f"Parts of pictures that excite single channels most, one line per channel: {told}.")


def digits_explorer(result: Mapping[str, Any]) -> Live:
    """Two rows of `stored("image_data")` against the number of training images, five seeds each."""
    right = {row: {int(size): 100 * np.array(of) for size, of in by.items()} for row, by in result["right"].items()}
    names, sizes = list(right), list(next(iter(right.values())))

    def draw(first: str, second: str) -> str:
        chosen = list(dict.fromkeys((first, second)))
        told = [
            f"{name}: "
            + ", ".join(f"{of.mean():.1f} % ({from_to(of)}) with {size:,}" for size, of in right[name].items())
            for name in chosen
        ]
        runs = {name: np.stack(list(right[name].values()), axis=1) for name in chosen}
        low = min(of.min() for by in right.values() for of in by.values())
        picture = bands_svg(
            np.log10(sizes), runs, low=5 * (low // 5), high=100, x_title="log₁₀ of the number of images", y_title="% right",
            width=820, height=380, columns=2, alt=f"Test digits that are right, mean and range of the seeds. {'; '.join(told)}.",
        )  # fmt: skip
        return picture + "".join(map(said, told))

    second = menu(names, "second", "360px")
    second.value = names[1]
    return live(draw, first=menu(names, "first", "360px"), second=second, rows=[["first", "second"]])
