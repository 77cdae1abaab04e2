"""Patches: an image as a sequence of small squares, read row by row like words.

    p_k = the pixels of square k, row by row           Dosovitskiy et al. (2021), section 3.1

An image of height H and width W in squares of size P gives H W / P² patches of P² pixels each.

Departs from the paper: grey images, so one channel.
"""

from jaxtyping import Float
from torch import Tensor

from nlmcore.checks import Size, checked


@checked
def to_patches(images: Float[Tensor, "batch row column"], size: Size) -> Float[Tensor, "batch patch pixel"]:
    """Squares of size × size pixels. Raises ValueError if they do not fill the image."""
    height, width = images.shape[1:]
    if height % size or width % size:
        raise ValueError(f"size must divide height and width, got {size} for images of {height} × {width}")
    squares = images.unflatten(2, (width // size, size)).unflatten(1, (height // size, size))
    return squares.transpose(2, 3).flatten(3).flatten(1, 2)


@checked
def from_patches(
    patches: Float[Tensor, "batch patch pixel"], height: Size, width: Size
) -> Float[Tensor, "batch row column"]:
    """The image again. Raises ValueError for patches that are not square or do not fill the image."""
    size = round(patches.shape[2] ** 0.5)
    if size * size != patches.shape[2] or height % size or width % size:
        raise ValueError(f"patches must be squares that fill {height} × {width}, got {patches.shape[2]} pixels each")
    if patches.shape[1] * size * size != height * width:
        raise ValueError(f"patches must fill {height} × {width}, got {patches.shape[1]} of {size} × {size}")
    squares = patches.unflatten(2, (size, size)).unflatten(1, (height // size, width // size))
    return squares.transpose(2, 3).flatten(3).flatten(1, 2)
