"""Direct logit attribution: a logit as a sum of what each sublayer and each head wrote.

    x_L = x_0 + Σ_l A_l + Σ_l F_l,    A_l = Σ_k z_k W^O_k + b^O       Elhage et al. (2021), the residual stream as a sum
    u · norm(x_L) = ũ · x_0 + Σ_l ũ · A_l + Σ_l ũ · F_l + u · b       ũ = g ⊙ (u − its mean, for LayerNorm) / s

u is a direction of the output, for example the unembedding of a word, or the difference of two; z_k is head k before
W^O. **The scale s of the final norm is kept fixed at its value for this text**. Departs from the paper: nothing; g and
s are in ũ.

**What heads attend to**: the mean weight from each position to one at a fixed distance, one value per head.

    previous token   mean_t α[t, t − 1]
    induction        mean_t α[t, t − (P − 1)],  t ≥ P, on P random tokens and the same again
    first token      mean_t α[t, 0],  t ≥ 1

A text of P random tokens, repeated once, is predictable only by copying: the token after the previous occurrence of the
current one is the next token. A head that attends there is an induction head (Olsson et al. 2022, section "Defining
induction heads"; Elhage et al. 2021). Departs from the papers: nothing.
"""

from contextlib import ExitStack
from typing import Any, NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from nlmcore.checks import Count, Size, checked
from nlmcore.inspect.recording import Place, capture, outputs, pathway
from nlmcore.norms import RMSNorm


@torch.no_grad()
def direct_logits(
    model: Any, tokens: Int[Tensor, "batch time"], direction: Float[Tensor, "*batch d_model"]
) -> dict[str, Float[Tensor, "batch time"]]:
    """Each part of the model: what it adds to direction · norm(x_L), at every position. The values add up to it.

    Names: embedding; layers.3.attention.0 is a head, layers.3.attention.bias b^O, layers.3.feed_forward a sublayer;
    final_norm.bias. direction: broadcast to (batch, time, d_model), for a logit `model.output.weight[word]`.

    Raises ValueError unless the residual pathway is a plain sum that ends in RMSNorm or LayerNorm.
    """
    attentions = {f"{n}.": m for n, m in model.named_modules() if hasattr(m, "n_heads") and hasattr(m, "output")}
    with ExitStack() as stack:
        branches = stack.enter_context(pathway(model))
        inputs = {n: stack.enter_context(outputs(model, Place(f"{n}output", "input"))) for n in attentions}
        model.hidden_states(tokens)
    start, last = branches[0].x, branches[-1].result
    norm: Any = model.final_norm
    # Post-norm, dropout or a scaled pathway would make the sum below say something that is not so.
    if not torch.allclose(start + sum(branch.y for branch in branches), last, rtol=1e-3, atol=1e-3):
        raise ValueError("model must have a residual pathway that is a plain sum (pre-norm, no dropout)")
    if not isinstance(norm, nn.LayerNorm | RMSNorm):
        raise ValueError(f"model.final_norm must be RMSNorm or LayerNorm, got {type(norm).__name__}")
    gain: Tensor = norm.weight * direction  # type: ignore[operator]  # g ⊙ u
    if isinstance(norm, nn.LayerNorm):
        # LayerNorm subtracts the mean of x; so does a direction without its mean: u · (x − x̄) = (u − ū) · x.
        last, gain = last - last.mean(-1, keepdim=True), gain - gain.mean(-1, keepdim=True)
    u = gain / (last.square().mean(-1, keepdim=True) + norm.eps).sqrt()  # ũ, (batch, time, d_model)
    parts = {"embedding": (u * start).sum(-1)}
    for branch in branches:
        name = branch.name.replace("residual_", "")
        if seen := inputs.get(f"{name}."):
            attention: Any = attentions[f"{name}."]
            by_feature = seen.pop(0) * (u @ attention.output.weight)  # z ⊙ (W^O ũ), (batch, time, head · d_head)
            for k, head in enumerate(by_feature.split(attention.d_head, dim=-1)):
                parts[f"{name}.{k}"] = head.sum(-1)  # ũ · z_k W^O_k
            if attention.output.bias is not None:
                parts[f"{name}.bias"] = u @ attention.output.bias
        else:
            parts[name] = (u * branch.y).sum(-1)
    if getattr(norm, "bias", None) is not None:
        parts["final_norm.bias"] = (direction * model.final_norm.bias).sum(-1).expand(tokens.shape)
    return parts


class Sizes(NamedTuple):
    """What parts add to the pathway, as a share of its length ‖x_i‖ after their layer; and where heads look."""

    weights: Float[Tensor, "layer head query key"]
    brought: Float[Tensor, "layer head query key"]
    heads: Float[Tensor, "layer head time"]
    networks: Float[Tensor, "layer time"]


@torch.no_grad()
def sizes(model: Any, tokens: Int[Tensor, "1 time"]) -> Sizes:
    """How much every head brings from every token to every other one, ‖α_ij v_j W^O_k‖ / ‖x_i‖, and every network adds.

    Kobayashi et al. 2020, Attention is Not Only a Weight. x_i is the pathway after the layer.
    """
    names = [f"layers.{i}" for i in range(len(model.layers))]
    with ExitStack() as stack:
        tape = stack.enter_context(capture(model))
        after, added, projected = (
            [stack.enter_context(outputs(model, f"{name}{part}")) for name in names]
            for part in ("", ".feed_forward", ".attention.projection")
        )
        model.hidden_states(tokens)
    length = torch.stack([x[0][0].norm(dim=-1) for x in after])  # (layer, time)
    weights = torch.stack([tape[f"{name}.attention"][0] for name in names])
    brought, heads = list[Tensor](), list[Tensor]()
    for layer, alpha, seen in zip(model.layers, weights, projected, strict=True):
        block = layer.attention
        v = seen[0][0, :, -block.n_kv_heads * block.d_head :].unflatten(-1, (-1, block.d_head))
        v = v.repeat_interleave(block.n_heads // block.n_kv_heads, dim=1).transpose(0, 1)  # (head, key, d_head)
        W = block.output.weight.unflatten(1, (-1, block.d_head)).permute(1, 2, 0)  # (head, d_head, d_model)
        written = v @ W  # v_j W^O_k, (head, key, d_model)
        brought.append(alpha * written.norm(dim=-1)[:, None])
        heads.append((alpha @ written).norm(dim=-1))
    networks = torch.stack([y[0][0].norm(dim=-1) for y in added]) / length
    return Sizes(
        weights, torch.stack(brought) / length[:, None, :, None], torch.stack(heads) / length[:, None], networks
    )


Weights = Float[Tensor, "batch head query key"]


@checked
def attention_at(weights: Weights, distance: Count, first: Count = 0) -> Float[Tensor, " head"]:
    """The mean weight from position t to t − distance, over the batch and t ≥ first. Raises ValueError if none is."""
    # Entry i of this diagonal is α[i + distance, i], the weight of query t = i + distance.
    diagonal = weights.diagonal(-distance, dim1=-2, dim2=-1)[..., max(0, first - distance) :]
    if not diagonal.shape[-1]:
        raise ValueError(f"distance must leave a query from {first} on, got {distance} in {weights.shape[-2]} queries")
    return diagonal.mean((0, 2))  # (batch, head, query) -> (head)


def previous_token_score(weights: Weights) -> Float[Tensor, " head"]:
    """How much each head attends to the token before, on average."""
    return attention_at(weights, 1)


def induction_score(weights: Weights, period: Size) -> Float[Tensor, " head"]:
    """Of weights on tokens that `repeated` made with this period."""
    return attention_at(weights, period - 1, period)


@checked
def first_token_score(weights: Weights) -> Float[Tensor, " head"]:
    """How much each head attends to the first token, on average over the later ones."""
    return weights[..., 1:, 0].mean((0, 2))


@checked
def repeated(
    ids: Int[Tensor, " choice"], batch: Size, period: Size, generator: torch.Generator | None = None
) -> Int[Tensor, "batch time"]:
    """`period` ids, each equally likely, and the same again: (batch, 2 · period)."""
    once = ids[torch.randint(len(ids), (batch, period), generator=generator)]
    return torch.cat([once, once], dim=1)
