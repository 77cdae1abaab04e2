"""The Vision Transformer: an encoder that reads patches instead of words.

    p_k = the pixels of the k-th square of P × P, squares and pixels row by row          section 3.1
    h⁰ = [x_class; p_1 E; …; p_N E] + positions,   h^l = block_l(h^{l−1}),   class from LN(h^L)_0
                                        Dosovitskiy et al. (2021), equations 1 to 4

`TransformerConfig.embedding` is a linear map of pixels here, and nothing else in the encoder changes.

**Pretraining without labels** (section 4.6, as in BERT): hide some patches, predict their pixels.

    L = mean over hidden patches of |p_k − (h_k W + b)|²

Symbols: E and its bias are `embedding`, x_class is `class_vector`; a hidden patch is read as `stand_in`.

Departs from the paper: grey images; a class token or the mean of the patches (its appendix D.3 has both); the head is
one linear map in pretraining too; every hidden patch is replaced (they keep or swap a few), and its pixels are the
target (they prefer its mean colour).
"""

from collections.abc import Callable
from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from nlmcore.checks import Probability, Size, checked
from nlmcore.transformer import TransformerConfig
from nlmcore.transformer.model import Backbone

Images = Float[Tensor, "batch row column"]


@checked
def to_patches(images: Images, size: Size) -> Float[Tensor, "batch patch pixel"]:
    """Squares of size × size pixels. Raises ValueError if they do not fill the image."""
    height, width = images.shape[1:]
    if height % size or width % size:
        raise ValueError(f"size must divide height and width, got {size} for images of {height} × {width}")
    squares = images.unflatten(2, (width // size, size)).unflatten(1, (height // size, size))
    return squares.transpose(2, 3).flatten(3).flatten(1, 2)


@checked
def from_patches(patches: Float[Tensor, "batch patch pixel"], height: Size, width: Size) -> Images:
    """The image again. Raises ValueError for patches that are not square or do not fill the image."""
    size = round(patches.shape[2] ** 0.5)
    if size * size != patches.shape[2] or height % size or width % size:
        raise ValueError(f"patches must be squares that fill {height} × {width}, got {patches.shape[2]} pixels each")
    if patches.shape[1] * size * size != height * width:
        raise ValueError(f"patches must fill {height} × {width}, got {patches.shape[1]} of {size} × {size}")
    squares = patches.unflatten(2, (size, size)).unflatten(1, (height // size, width // size))
    return squares.transpose(2, 3).flatten(3).flatten(1, 2)


class VisionTransformer(Backbone):
    """images (batch, row, column) -> (batch, location, d_model): the class token if there is one, then the patches.

    config: d_model, n_heads, n_layers and any part of `TransformerConfig`. `capture` sees `layers.{l}.attention`.
    Raises ValueError if the patches do not fill the image.
    """

    @checked
    def __init__(self, height: Size, width: Size, patch_size: Size, class_token: bool = True, **config: Any) -> None:
        if height % patch_size or width % patch_size:
            raise ValueError(f"patch_size must divide height and width, got {patch_size} for {height} × {width}")
        n_patches = height * width // patch_size**2
        config = {"embedding": nn.Linear, **config}
        full = TransformerConfig(vocab_size=patch_size**2, max_length=n_patches + class_token, **config)
        super().__init__(full, causal=False)
        self.height, self.width, self.patch_size, self.n_patches = height, width, patch_size, n_patches
        self.d_model, self.class_token = full.d_model, class_token
        full.initialise(self, full)
        nn.init.xavier_uniform_(self.embedding.weight)  # after it: 0.02 is too little for a few pixels
        if class_token:
            self.class_vector = nn.Parameter(torch.zeros(full.d_model))

    def project(self, images: Images) -> Float[Tensor, "batch patch d_model"]:
        """p_k E. Raises ValueError for images of another size."""
        if images.shape[1:] != (self.height, self.width):
            raise ValueError(f"images must be (batch, {self.height}, {self.width}), got {tuple(images.shape)}")
        return self.embedding(to_patches(images, self.patch_size))

    def forward(
        self,
        images: Images,
        mask: Bool[Tensor, "batch location"] | None = None,
        change: Callable[[Tensor], Tensor] = lambda patches: patches,
    ) -> Float[Tensor, "batch location d_model"]:
        """mask: True = a location that may be attended to; None: all of them. change: what is read instead of p_k E."""
        return self.read(change(self.project(images)), mask)

    def read(
        self, x: Float[Tensor, "batch patch d_model"], mask: Bool[Tensor, "batch location"] | None = None
    ) -> Float[Tensor, "batch location d_model"]:
        """What follows p_k E: the class token, positions, layers and norm."""
        if self.class_token:
            x = torch.cat([self.class_vector.expand(len(x), 1, -1), x], dim=1)
        x = self.dropout(self.embedding_norm(self.positions(x, 0)))
        return self.final_norm(self.layers(x, None if mask is None else mask[:, None, None]))


class ImageClassifier(nn.Module):
    """images -> logits (batch, class): a linear map of the class token, or of the mean of the locations without one."""

    @checked
    def __init__(self, encoder: nn.Module, n_classes: Size) -> None:
        super().__init__()
        self.encoder, self.output = encoder, nn.Linear(int(encoder.d_model), n_classes)  # type: ignore[arg-type]

    def forward(self, images: Images) -> Float[Tensor, "batch class"]:
        h = self.encoder(images)
        return self.output(h[:, 0] if self.encoder.class_token else h.mean(1))


@checked
def hide_patches(
    batch: Size, n_patches: Size, share: Probability = 0.5, generator: torch.Generator | None = None
) -> Bool[Tensor, "batch patch"]:
    """True = hidden: in every image the same number of random patches, at least one."""
    order = torch.rand(batch, n_patches, generator=generator).argsort(dim=1)
    return order < max(1, round(share * n_patches))


class PatchPredictor(nn.Module):
    """images, hidden -> predicted pixels of every patch (batch, patch, pixel); `encoder` is what is kept afterwards."""

    def __init__(self, encoder: VisionTransformer) -> None:
        super().__init__()
        self.encoder, self.stand_in = encoder, nn.Parameter(torch.zeros(encoder.d_model))
        self.output = nn.Linear(encoder.d_model, encoder.patch_size**2)

    def forward(self, images: Images, hidden: Bool[Tensor, "batch patch"]) -> Float[Tensor, "batch patch pixel"]:
        def hide(x: Tensor) -> Tensor:
            return torch.where(hidden.unsqueeze(-1), self.stand_in.to(x.dtype), x)

        return self.output(self.encoder(images, change=hide)[:, -self.encoder.n_patches :])


@checked
def patch_loss(
    predicted: Float[Tensor, "batch patch pixel"],
    patches: Float[Tensor, "batch patch pixel"],
    hidden: Bool[Tensor, "batch patch"],
) -> Float[Tensor, ""]:
    """The mean squared error of the hidden patches. Raises ValueError if none is hidden."""
    if not hidden.any():
        raise ValueError("hidden must be True for at least one patch, got none")
    return (predicted - patches)[hidden].square().mean()
