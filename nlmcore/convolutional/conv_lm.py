"""A language model of causal, gated convolutions: each layer looks a little further back.

Source: Dauphin, Fan, Auli & Grangier (2017), "Language modeling with gated convolutional networks"; dilations
as in van den Oord et al. (2016), "WaveNet"; Gehring et al. (2017), "Convolutional sequence to sequence learning",
sections 3.2 and 3.5, for one convolution with 2d outputs and its first weights.

    [A; B]_t = W [x_{t-(k-1)δ}; …; x_{t-δ}; x_t] + b         k inputs, δ apart, give 2d values
    GLU([A; B]) = A ⊙ σ(B)                                   d of them; the other d are their gates

    h⁰ = C(w)        h^l_t = h^{l-1}_t + GLU(W^l [h^{l-1}_{t-(k-1)δ}; …; h^{l-1}_t] + b^l)        y = U h^L + c

Symbols: C is `embedding`; W^l, b^l are `layers.{l-1}.linear`; U, c are `output`; k is kernel_size, d d_model, δ the
dilation. Before the text there are zeros, in every layer. Dauphin's X∗W + b and X∗V + c are the two halves of W.

A prediction sees 1 + Σ (k-1)δ tokens: linear in the depth without dilation, exponential with 1, 2, 4, … The state holds
the last (k-1)δ inputs of every layer, so one more token costs one step of each layer, however long the text is.

Departs from the papers: the softmax is over the whole vocabulary (theirs is adaptive), residual blocks hold one
layer (theirs up to five, with bottlenecks), no weight normalisation.
"""

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from nlmcore.checks import Rate, Size, check_sizes, check_tokens, checked
from nlmcore.language_model import check_state


def gated_linear_unit(x: Float[Tensor, "*batch twice"]) -> Float[Tensor, "*batch half"]:
    """GLU([A; B]) = A ⊙ σ(B): the first half of the last dimension (even), gated by the second."""
    if x.shape[-1] % 2:
        raise ValueError(f"x must have an even last dimension, values and their gates, got shape {tuple(x.shape)}")
    A, B = x.chunk(2, dim=-1)
    return A * torch.sigmoid(B)


def causal_inputs(
    x: Float[Tensor, "batch time d_model"], past: Float[Tensor, "batch past d_model"]
) -> tuple[Float[Tensor, "batch past_and_time d_model"], Float[Tensor, "batch past d_model"]]:
    """Put the past in front of x; return that, and the inputs to keep for the next piece of text."""
    inputs = torch.cat([past, x], dim=1)
    return inputs, inputs[:, inputs.shape[1] - past.shape[1] :].clone()


class GatedConvolution(nn.Module):
    """GLU(W [window] + b): (batch, (k-1)δ + time, d_model) -> (batch, time, d_model); the caller pads.

    One linear map of every window of k inputs, which is faster on a CPU than nn.Conv1d. Weights start as N(0, √(4p/n))
    with n = k·d_model inputs and p the fraction that dropout keeps, because a half-open gate lets a quarter of the
    variance through (Gehring et al., section 3.5).
    """

    @checked
    def __init__(self, d_model: Size, kernel_size: Size, dilation: Size = 1, dropout: Rate = 0.0) -> None:
        super().__init__()
        self.kernel_size, self.dilation, self.dropout = kernel_size, dilation, dropout
        self.linear = nn.Linear(kernel_size * d_model, 2 * d_model)  # the oldest input's columns first
        nn.init.normal_(self.linear.weight, std=(4 * (1 - dropout) / (kernel_size * d_model)) ** 0.5)
        nn.init.zeros_(self.linear.bias)

    def forward(self, x: Tensor) -> Float[Tensor, "batch time d_model"]:
        """Raises ValueError for another shape, or an x that is shorter than one window."""
        d_model, past = self.linear.out_features // 2, (self.kernel_size - 1) * self.dilation
        if x.ndim != 3 or x.shape[2] != d_model or x.shape[1] <= past:
            raise ValueError(
                f"x must be (batch, more than (kernel_size-1)·dilation = {past}, d_model = {d_model}),"
                f" got shape {tuple(x.shape)}"
            )
        x = F.dropout(x, self.dropout, self.training)
        time = x.shape[1] - past
        starts = [j * self.dilation for j in range(self.kernel_size)]
        windows = torch.cat([x[:, start : start + time] for start in starts], dim=-1)  # (batch, time, k · d_model)
        return gated_linear_unit(self.linear(windows))


class ConvLM(nn.Module):
    """`logits, state = model(tokens, state)`; the state is one tensor (batch, (k-1)δ, d_model) per layer.

    `dilations` gives each layer's δ, by default 1; `tie_embeddings` uses the embedding as U.
    """

    @checked
    def __init__(
        self,
        vocab_size: Size,
        d_model: Size = 128,
        n_layers: Size = 4,
        kernel_size: Size = 4,
        dilations: Sequence[int] | None = None,
        dropout: Rate = 0.0,
        tie_embeddings: bool = False,
    ) -> None:
        super().__init__()
        dilations = [1] * n_layers if dilations is None else list(dilations)
        if len(dilations) != n_layers:
            raise ValueError(f"dilations must hold one number per layer, got {dilations} for n_layers={n_layers}")
        check_sizes(**{f"dilations[{i}]": dilation for i, dilation in enumerate(dilations)})
        self.vocab_size, self.d_model, self.dropout = vocab_size, d_model, dropout
        self.past = [(kernel_size - 1) * δ for δ in dilations]  # how many inputs each layer must remember
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.layers = nn.ModuleList(GatedConvolution(d_model, kernel_size, δ, dropout) for δ in dilations)
        self.output = nn.Linear(d_model, vocab_size)
        nn.init.normal_(self.embedding.weight, std=0.1)
        if tie_embeddings:
            self.output.weight = self.embedding.weight

    def forward(self, tokens: Tensor, state: tuple[Tensor, ...] | None = None) -> tuple[Tensor, tuple[Tensor, ...]]:
        """tokens (batch, time) -> logits (batch, time, vocab), new state."""
        hidden, state = self.hidden_states(tokens, state)
        return self.output(hidden), state

    def hidden_states(
        self, tokens: Tensor, state: tuple[Tensor, ...] | None = None
    ) -> tuple[Tensor, tuple[Tensor, ...]]:
        """h^L (batch, time, d_model), whose `output` is the logits, and the new state."""
        check_tokens(tokens, self.vocab_size)
        h = self.embedding(tokens)  # (batch, time, d_model)
        shapes = [(len(tokens), past, self.d_model) for past in self.past]
        state = tuple(map(h.new_zeros, shapes)) if state is None else check_state(state, shapes, h.dtype)
        kept = []
        for layer, past in zip(self.layers, state, strict=True):
            inputs, past = causal_inputs(h, past)
            kept.append(past)
            h = h + layer(inputs)
        return F.dropout(h, self.dropout, self.training), tuple(kept)

    def receptive_field(self) -> int:
        """How many tokens, the newest included, a prediction can depend on."""
        return 1 + sum(self.past)
