"""Classes from the states of a pretrained model: fine-tuning and probing.

    P(class | w_1 … w_n) = softmax(V pool(h_1 … h_n) + b)      one class for a text
    P(class | w_t, text) = softmax(V h_t + b)                  pool=None: one for every token

h are the states of any model, after its last layer or after any other. **Fine-tuning** trains the model with V and b
(Radford et al. 2018, section 3.2; Devlin et al. 2019, section 3.2). **Probing** trains V and b only (Alain & Bengio
2017; Hewitt & Manning 2019).

Departs from the papers: BERT's text vector is the state of [CLS], GPT's that of the last token (`last_pool`); here the
default is the mean.
"""

from collections.abc import Callable
from contextlib import ExitStack, nullcontext
from inspect import signature
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from nlmcore.attention.pooling import mean_pool
from nlmcore.checks import Size, checked, described
from nlmcore.inspect import outputs
from nlmcore.language_model import evaluation_mode


def states_of(
    model: Any, tokens: Int[Tensor, "batch time"], mask: Bool[Tensor, "batch time"] | None = None, layer: str = ""
) -> Float[Tensor, "batch time d_model"]:
    """The states of a language model (`hidden_states`) or an encoder, called model(tokens, mask=mask).

    layer: the name of a submodule, as in `model.named_modules()`, whose output is wanted, say "layers.3".

    Raises ValueError for a layer that the model does not have or use, or whose output has no vector for each token.
    """
    with ExitStack() as stack:
        seen = stack.enter_context(outputs(model, layer)) if layer else []
        if hasattr(model, "hidden_states"):
            last = model.hidden_states(tokens)[0]
        else:
            last = model(tokens, mask=mask) if "mask" in signature(model.forward).parameters else model(tokens)[0]
    if layer and not seen:
        raise ValueError(f"layer must be called while the model reads, but {layer!r} is not")
    states = seen[-1] if layer else last
    if not isinstance(states, Tensor) or states.ndim != 3 or states.shape[:2] != tokens.shape:
        shape = f"({len(tokens)}, {tokens.shape[1]}, d_model)"
        raise ValueError(f"layer must give states {shape}, got {described(states)}")
    return states


class Classifier(nn.Module):
    """Logits (batch, class), or with pool=None (batch, time, class).

    model: any that `states_of` takes. pool: (states, mask) -> (batch, d_model), a function or a module of
    `nlmcore.attention.pooling`. frozen: the model is unchanged, runs without dropout, and no gradient reaches it.
    """

    @checked
    def __init__(
        self,
        model: nn.Module,
        n_classes: Size,
        pool: Callable | None = mean_pool,
        layer: str = "",
        frozen: bool = False,
    ) -> None:
        super().__init__()
        self.model, self.pool, self.layer, self.frozen = model, pool, layer, frozen
        if frozen:
            model.requires_grad_(False)
        weight = next(model.parameters())
        with torch.no_grad(), evaluation_mode(model):
            d_model = states_of(model, torch.zeros(1, 1, dtype=torch.long, device=weight.device), None, layer).shape[2]
        self.output = nn.Linear(d_model, n_classes).to(weight)

    def forward(
        self, tokens: Int[Tensor, "batch time"], mask: Bool[Tensor, "batch time"] | None = None
    ) -> Float[Tensor, "batch *time classes"]:
        """mask: True = a real token (None: all are). Raises as `states_of` does."""
        with evaluation_mode(self.model) if self.frozen else nullcontext():
            states = states_of(self.model, tokens, mask, self.layer)
        return self.output(states if self.pool is None else self.pool(states, mask))
