"""A text in a model whose heads and networks are switched off, one set after another.

    switches = Switches(model, tokens)
    switches.off({(18, 6), (21, None)})     log-probabilities of the next token without head 18.6 and network 21
    switches.off({(18, 6)})                 ... and with the network on again
    switches.off([], mask=window_mask(n, 8))      ... through a window of eight
    switches.off([], steer=(0, lambda x: x + d))  ... with a direction added after layer 0, at the last token
    switches.lens()                         log-probabilities read after 0, 1, … layers, with what is off now
    Switches(encoder, tokens, position=4)   reads a hidden token of a bidirectional model

Off means that the part adds zero, by `patch`. The pathway after every layer is kept as it is *now*, so that a switch
computes only the layers from the lowest one that changed.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from nlmcore.attention import two_way
from nlmcore.inspect.patching import Change, patch
from nlmcore.inspect.recording import Place, capture, head, outputs

Part = tuple[int, int | None]
"""(layer, head), or (layer, None): the feed-forward network of that layer."""
Steer = tuple[int, Callable[[Tensor], Tensor]] | None
"""(layer, change): what becomes of the pathway after this layer, at the last token, (batch, 1, d_model)."""


def ablation(model: Any, parts: Iterable[Part]) -> dict[Any, Change]:
    """What `patch` needs to switch these parts off: one place for the heads of a layer.

    Raises ValueError for a part that the model does not have.
    """
    heads: dict[int, list[int]] = defaultdict(list)
    found: dict[Any, Change] = {}
    for layer, number in sorted(parts, key=str):
        if number is None:
            found[Place(f"layers.{layer}.feed_forward")] = 0
        else:
            heads[layer] += head(model, f"layers.{layer}.attention", number).features or ()
    for layer, features in heads.items():
        found[Place(f"layers.{layer}.attention.output", "input", tuple(features))] = 0
    return found


class Switches:
    """One text; `parts` are off now, and `depths` is the pathway after 0, 1, … layers, (1, time, d_model) each.

    model: has `layers`, each with an `attention` and a `feed_forward`. position: where the answer is read.
    """

    @torch.no_grad()
    def __init__(self, model: Any, tokens: Int[Tensor, "1 time"], position: int = -1) -> None:
        self.model, self.parts, self.position = model, frozenset[Part](), position
        self.mask: Tensor | None = None
        self.steer: Steer = None
        with ExitStack() as stack:
            places = [Place("layers.0", "input"), *(Place(f"layers.{i}") for i in range(len(model.layers)))]
            seen = [stack.enter_context(outputs(model, place)) for place in places]
            model.hidden_states(tokens)
        self.depths: list[Tensor] = [x[0] for x in seen]
        self.whole = tuple(self.depths)

    @torch.no_grad()
    def off(
        self, parts: Iterable[Part], mask: Bool[Tensor, "query key"] | None = None, steer: Steer = None
    ) -> Float[Tensor, " vocab"]:
        """Exactly these parts are off from now on; log-probabilities of the next token.

        mask: True = may attend, in all layers; None: causal.
        """
        wanted = frozenset(parts)
        changed = [layer for layer, _ in wanted ^ self.parts]
        if steer is not self.steer:
            changed += [one[0] for one in (steer, self.steer) if one]
        if mask is not self.mask and (mask is None or self.mask is None or not torch.equal(mask, self.mask)):
            changed.append(0)
        if changed:
            first = min(changed)
            above = ablation(self.model, {part for part in wanted if part[0] >= first})
            self.depths[first + 1 :] = self._from(first, self.depths[first], above, mask, steer)
            self.parts, self.mask, self.steer = wanted, mask, steer
        return self._next(self.depths[-1])[0]

    @torch.no_grad()
    def each(self, layer: int) -> Float[Tensor, "part vocab"]:
        """Log-probabilities of the next token without one part: each head of this layer, its network, the whole layer.

        Everything else is on.
        """
        block = self.model.layers[layer].attention
        count, wide = block.n_heads, block.d_head
        keep = torch.ones(count + 2, count + 1)  # (part that is off, head or network)
        keep.fill_diagonal_(0)
        keep[-1] = 0
        heads, network = keep[:, None, :count].repeat_interleave(wide, -1), keep[:, -1:, None]
        changes: dict[Any, Change] = {
            Place(f"layers.{layer}.attention.output", "input"): lambda z: z * heads,
            f"layers.{layer}.feed_forward": lambda y: y * network,
        }
        return self._next(self._from(layer, self.whole[layer].expand(count + 2, -1, -1), changes)[-1])

    @torch.no_grad()
    def weights(self, layer: int) -> Float[Tensor, "head query key"]:
        """Where a layer's heads look now, with what is off."""
        with capture(self.model) as tape:
            _through(self.model.layers[layer], self.depths[layer], self.mask)
        return tape[f"layers.{layer}.attention"][0]

    @torch.no_grad()
    def lens(self) -> Float[Tensor, "depth time vocab"]:
        """The logit lens (nostalgebraist 2020): the pathway after 0, 1, … layers, read as if it were the last."""
        return torch.cat([self._next(x, whole=True) for x in self.depths])

    def _from(
        self, first: int, x: Tensor, changes: dict[Any, Change], mask: Tensor | None = None, steer: Steer = None
    ) -> list[Tensor]:
        found = []
        with patch(self.model, changes):
            for i, layer in enumerate(self.model.layers[first:], first):
                x = _through(layer, x, mask)
                if steer and steer[0] == i:
                    x = torch.cat([x[:, :-1], steer[1](x[:, -1:])], dim=1)
                found.append(x)
        return found

    def _next(self, x: Tensor, whole: bool = False) -> Tensor:
        x = x if whole else x[:, self.position]
        return self.model.output(self.model.final_norm(x)).log_softmax(-1)  # type: ignore[no-any-return]


def _through(layer: Any, x: Tensor, mask: Tensor | None) -> Any:
    """What a layer makes of the pathway, with a mask instead of its causal one."""
    if mask is None:
        made = layer(x)
        return made[0] if isinstance(made, tuple) else made  # without state
    y = two_way(layer.attention)(layer.residual_attention(x), mask=mask[None, None])
    return layer.transform(layer.residual_attention(x, y))
