"""A finished table of word vectors as a module, so that it can be kept like any other trained model."""

from jaxtyping import Float, Int
from torch import Tensor, nn


class WordVectors(nn.Module):
    """e(w) for every id of a vocabulary: a lookup, which is a product with a one-hot vector.

    e(w) = onehot(w) E, E (vocab, d_model) the rows of `embedding`. The output vectors, which training needs, are not
    kept. Departs from the papers: nothing.
    """

    def __init__(self, vocab_size: int, d_model: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)

    @property
    def vectors(self) -> Float[Tensor, "vocab d_model"]:
        """The whole table, without a gradient."""
        return self.embedding.weight.detach()

    def forward(self, tokens: Int[Tensor, "..."]) -> Float[Tensor, "... d_model"]:
        return self.embedding(tokens)
