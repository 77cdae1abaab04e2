"""A small convolutional network, as in LeNet: convolution, rectifier, pooling, again, and the mean of all locations.

    y_o[r, c] = b_o + Σ_i Σ_{u,v} W_oi[u, v] x_i[r + u − p, c + v − p]        the same weights at every location
    z_o[r, c] = max over a square of y_o                                        pooling, which forgets where exactly
                                                  LeCun, Bottou, Bengio & Haffner (1998), section II

Symbols: o and i are channels, u and v run over the kernel, p is its half, so that borders are filled with zeros.

Departs from the paper: the rectifier instead of tanh, maxima instead of learned means, every channel sees all channels
below, and a linear map of the mean over locations instead of further layers.
"""

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor, nn

from nlmcore.checks import Size, check_sizes, checked

Maps = Float[Tensor, "batch channel row column"]


@checked
def convolve(
    x: Maps, W: Float[Tensor, "out channel kernel kernel"], b: Float[Tensor, " out"]
) -> Float[Tensor, "batch out row column"]:
    """The first equation, of a kernel with an odd size: every window as a row, times one matrix."""
    size = W.shape[-1]
    if size % 2 == 0:
        raise ValueError(f"W must have an odd kernel size, so that it has a middle, got {size}")
    windows = F.unfold(x, size, padding=size // 2)  # (batch, channel · kernel², location)
    return (W.flatten(1) @ windows + b.unsqueeze(1)).unflatten(2, x.shape[2:])


@checked
def max_pool(x: Maps, size: Size) -> Float[Tensor, "batch channel height width"]:
    """The maximum of each square. Raises ValueError if squares of that size do not fill the maps."""
    height, width = x.shape[2:]
    if height % size or width % size:
        raise ValueError(f"size must divide height and width, got {size} for maps of {height} × {width}")
    return x.unflatten(3, (width // size, size)).unflatten(2, (height // size, size)).amax(dim=(3, 5))


class ConvEncoder(nn.Module):
    """images (batch, row, column) -> (batch, location, d_model), d_model the last of `channels`; locations row by row.

    pools: after each convolution, squares of that size are pooled (1: none). coordinates: two more input maps, the row
    and the column from −1 to 1, because the same shape elsewhere looks the same to a convolution (Liu et al. 2018).
    Raises ValueError unless each convolution has a pool.
    """

    class_token = False

    @checked
    def __init__(
        self,
        channels: Sequence[int] = (16, 32),
        pools: Sequence[int] = (2, 1),
        kernel_size: Size = 3,
        coordinates: bool = False,
    ) -> None:
        super().__init__()
        if not channels or len(channels) != len(pools):
            raise ValueError(f"channels and pools must have one entry per convolution, got {channels} and {pools}")
        check_sizes(**{f"channels[{i}]": c for i, c in enumerate(channels)})
        inputs = (3 if coordinates else 1, *channels[:-1])
        self.coordinates, self.pools, self.d_model = coordinates, tuple(pools), channels[-1]
        shapes = [(out, into, kernel_size, kernel_size) for into, out in zip(inputs, channels, strict=True)]
        kaiming = [nn.init.kaiming_normal_(torch.empty(shape)) for shape in shapes]
        self.weights = nn.ParameterList(kaiming)
        self.biases = nn.ParameterList(torch.zeros(out) for out in channels)

    def forward(
        self, images: Float[Tensor, "batch row column"], mask: Bool[Tensor, "batch location"] | None = None
    ) -> Float[Tensor, "batch location d_model"]:
        """mask is for encoders whose locations attend to each other; locations here are read whatever it says."""
        x = images.unsqueeze(1)
        if self.coordinates:
            rows, columns = (torch.linspace(-1, 1, n, device=x.device).to(x) for n in x.shape[2:])
            x = torch.cat([x, *(c.expand_as(x) for c in (rows.unsqueeze(1), columns))], dim=1)
        for W, b, pool in zip(self.weights, self.biases, self.pools, strict=True):
            x = max_pool(F.relu(convolve(x, W, b)), pool)
        return x.flatten(2).mT
