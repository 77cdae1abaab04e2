"""The picture at the top of the lecture `encoder_decoder_transformers`: one head of cross-attention reads a number."""

from lectures.recipes.alignment import cross_weights, reference_alignment
from lectures.recipes.pairs import english, german
from lectures.trained import checkpoint
from lectures.widgets.encoder_decoder_transformers import Aligned, aligned_svg

HEAD = 6
"""Head 2 of layer 1, which finds most words."""


def units_before_tens(number: int = 465_721) -> str:
    model, tokenizer, _ = checkpoint("numbers_transformer_20")
    weights = cross_weights(model, tokenizer, [number])[
        0, HEAD : HEAD + 1, :-1
    ]  # without the row that writes <eos>
    read = [*english(number).split(), "<eos>"]
    found = Aligned(
        german(number).split(), read, weights.numpy(), ["head"], reference_alignment(number)
    )
    return aligned_svg(found, 0, title=f"{number:,}")


PICTURES = {"units_before_tens": units_before_tens}
