"""A bidirectional Transformer: every token sees every other. BERT's and MiniLM's shape.

    h⁰ = norm(E[tokens] + positions),   h^l = block_l(h^{l−1}, mask)

Source: Vaswani et al. (2017), section 3.1 (encoder); Devlin et al. (2019), section 3. A text that is all padding has
nothing to attend to: attention adds nothing, and its vectors are finite.

Departs from BERT: pre-norm and no norm of the embeddings, unless the configuration says otherwise; no segment
embedding of its own. A text of one segment always adds the same vector, so `nlmcore.pretrained` folds it into the
positions.
"""

from jaxtyping import Bool, Float, Int
from torch import Tensor

from nlmcore.attention.masks import check_mask
from nlmcore.language_model import check_tokens
from nlmcore.transformer.config import TransformerConfig
from nlmcore.transformer.trunk import Trunk


class TransformerEncoder(Trunk):
    """tokens (batch, time) -> hidden vectors (batch, time, d_model)."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__(config, causal=False)
        config.initialise(self, config)

    def forward(
        self, tokens: Int[Tensor, "batch time"], mask: Bool[Tensor, "batch time"] | None = None
    ) -> Float[Tensor, "batch seen d_model"]:
        """mask (batch, time), True = a real token; what stands at padding is read by nobody.

        One vector per token (seen = time), unless the configuration's `stack` pools them.

        Raises TypeError or ValueError for tokens outside the vocabulary, a text that is too long, or a
        mask that does not fit the tokens.
        """
        check_tokens(tokens, self.config.vocab_size)
        if mask is not None:
            check_token_mask(mask, tokens)
        keys_allowed = None if mask is None else mask[:, None, None, :]  # (batch, head, query, key)
        return self.final_norm(self.layers(self.embed(tokens), keys_allowed))


def check_token_mask(mask: Tensor, tokens: Tensor) -> None:
    """Refuse a mask that is not boolean (TypeError), or not of the tokens' shape (ValueError): nothing is broadcast."""
    if isinstance(mask, Tensor) and mask.shape != tokens.shape:
        raise ValueError(f"mask must have the tokens' shape {tuple(tokens.shape)}, got {tuple(mask.shape)}")
    check_mask(mask, tokens.shape)
