"""What each row of Narang et al. (2021) changes: the part of the network, its equation, a line of words, and its code."""

import html
import inspect
import re
import textwrap
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from lectures.show import Canvas
from lectures.show.architecture import COLOUR
from nlmcore.norms import RMSNorm
from nlmcore.transformer import EncoderLayer, FeedForward, GatedFeedForward
from nlmcore.transformer.config import build_output
from nlmcore.variants import (
    adaptive_softmax,
    albert,
    catalogue,
    evolved,
    factorised,
    fixup,
    funnel,
    gated_universal,
    lightweight_convolution,
    mixture_of_experts,
    mixture_of_softmaxes,
    product_keys,
    rezero,
    switch,
    synthesizer,
    transparent,
    weighted,
)


class About(NamedTuple):
    """One row; `parts` are keys of PARTS, `code` what `inspect` shows."""

    parts: str
    equation: str
    line: str
    code: tuple[Any, ...] = ()


_PLAIN, _GATED = (FeedForward.forward,), (GatedFeedForward.forward,)
_NEURON, _GATE = "FFN(x) = W₂ φ(W₁ x), φ(a) = ", "FFN(x) = W₂ (φ(W x) ⊙ V x), φ(a) = "
_SOFTMAX = "y_t = Σ_s softmax(S_t)_s v_s, "
_SCORES = (synthesizer.Synthesizer.forward,)


def _neuron(phi: str, line: str) -> About:
    return About("f", _NEURON + phi, line, _PLAIN)


def _gate(phi: str, line: str) -> About:
    return About("f", _GATE + phi, line + " W and V have 2/3 of the width, so the parameters stay the same.", _GATED)


def _deep(layers: int, line: str) -> About:
    return About("l", f"{layers} layers on each side instead of 12", line, (catalogue.deep,))


def _synthetic(scores: str, line: str, *code: Any) -> About:
    return About("a", _SOFTMAX + scores, line, (*(part.forward for part in code), *_SCORES))


ABOUT: dict[str, About] = {
    "Vanilla Transformer": About(
        "",
        "x ← x + attention(LN x),  x ← x + FFN(LN x),  FFN(x) = W₂ max(0, W₁ x)",
        "The baseline: T5's encoder–decoder, pre-norm, ReLU, a learned bias for each distance, one tied embedding matrix.",
        (EncoderLayer.forward, FeedForward.forward),
    ),
    "GeLU": _neuron("a Φ(a), Φ the normal distribution", "A smooth ReLU: small negative values pass a little."),
    "Swish": _neuron("a σ(a)", "Nearly GeLU; found by a search over formulas."),
    "ELU": _neuron("a above 0, eᵃ − 1 below", "Negative values saturate at −1 instead of 0."),
    "GLU": _gate("σ(a)", "A gated linear unit: one matrix decides how much of the other's output passes."),
    "GeGLU": _gate("a Φ(a)", "A gate whose activation is GeLU."),
    "ReGLU": _gate("max(0, a)", "A gate whose activation is ReLU."),
    "SeLU": _neuron(
        "1.0507 a above 0, 1.7581 (eᵃ − 1) below",
        "An ELU scaled so that a deep network without norms keeps its variance.",
    ),
    "SwiGLU": _gate("a σ(a)", "A gate whose activation is Swish; Llama has it."),
    "LiGLU": _gate("a", "A gate without any activation: the product of two linear maps."),
    "Sigmoid": _neuron("σ(a)", "The logistic function; all outputs are positive, and it saturates on both sides."),
    "Softplus": _neuron("ln(1 + eᵃ)", "The integral of the logistic function: ReLU with a rounded corner."),
    "RMS Norm": About(
        "n",
        "γ ⊙ x / √(mean x² + ε) instead of γ ⊙ (x − mean x) / √(var x + ε) + β",
        "No mean is subtracted and no shift is added, so a norm costs less.",
        (RMSNorm.forward,),
    ),
    "Rezero": About(
        "nr",
        "x ← x + α f(x), α = 0 at the start",
        "Each branch is multiplied by one learned value that starts at 0; there is no norm.",
        (rezero.ReZero,),
    ),
    "Rezero + LayerNorm": About(
        "r", "x ← x + α f(LN x), α = 0 at the start", "Rezero that keeps LayerNorm.", (rezero.ReZero,)
    ),
    "Rezero + RMS Norm": About(
        "nr", "x ← x + α f(RMSNorm x), α = 0 at the start", "Rezero with RMS Norm.", (rezero.ReZero, RMSNorm.forward)
    ),
    "Fixup": About(
        "nrf",
        "x ← x + a f(x + b); matrices of a branch × L^(−1/(2m − 2)), its last one 0",
        "Initial weights scaled by the depth and a few learned scalars replace the norm.",
        (fixup.Fixup, fixup.FixupFeedForward.forward, fixup.initialise_fixup),
    ),
    "24 layers, d_ff = 1536, H = 6": _deep(24, "Twice as deep; the feed-forward network and the heads are halved."),
    "18 layers, d_ff = 2048, H = 8": _deep(18, "Half as many layers again, each with 2/3 of the width."),
    "8 layers, d_ff = 4608, H = 18": _deep(8, "2/3 of the layers, each half as wide again."),
    "6 layers, d_ff = 6144, H = 24": _deep(6, "Half as deep, twice as wide and with twice as many heads."),
    "Block sharing": About(
        "l",
        "h^l = layer(h^(l − 1)), the same layer for every l",
        "All layers of a side are one and the same: 65 million parameters, most of them embeddings.",
        (albert.share_blocks,),
    ),
    "Block sharing + Factorized embeddings": About(
        "led",
        "h^l = layer(h^(l − 1));  E = A B, A narrow",
        "Block sharing, and every token has a narrow vector that one matrix widens.",
        (albert.share_blocks, factorised.FactorisedEmbedding.forward),
    ),
    "Block sharing + Factorized & shared embeddings": About(
        "leds",
        "h^l = layer(h^(l − 1));  E = A B,  logits = (h Bᵀ) Aᵀ",
        "Block sharing and narrow token vectors, and the softmax has the same two factors: 20 million parameters.",
        (albert.share_blocks, factorised.FactorisedOutput.forward),
    ),
    "Encoder only block sharing": About(
        "k",
        "encoder: h^l = layer(h^(l − 1))",
        "One layer, applied 12 times, in the encoder.",
        (albert.share_in_encoder,),
    ),
    "Decoder only block sharing": About(
        "m",
        "decoder: h^l = layer(h^(l − 1))",
        "One layer, applied 12 times, in the decoder.",
        (albert.share_in_decoder,),
    ),
    "Factorized Embedding": About(
        "eds",
        "E = A B, A (vocabulary, 128), B (128, d)",
        "Narrow token vectors and one matrix that widens them; the softmax has its own full matrix.",
        (factorised.FactorisedEmbedding.forward,),
    ),
    "Factorized & shared embeddings": About(
        "eds",
        "E = A B,  logits = (h Bᵀ) Aᵀ",
        "Narrow token vectors and one matrix that widens them; the softmax uses the same two factors.",
        (factorised.FactorisedEmbedding.forward, factorised.FactorisedOutput.forward),
    ),
    "Tied encoder/decoder input embeddings": About(
        "eds",
        "E_encoder = E_decoder ≠ E_softmax",
        "Two matrices: one for both inputs, one for the softmax.",
        (build_output,),
    ),
    "Tied decoder input and output embeddings": About(
        "eds",
        "E_encoder ≠ E_decoder = E_softmax",
        "Two matrices: one for the encoder, one for the decoder.",
        (build_output,),
    ),
    "Untied embeddings": About(
        "eds",
        "E_encoder, E_decoder, E_softmax all differ",
        "Three matrices instead of one; T5.1.1 has separate ones too.",
        (build_output,),
    ),
    "Adaptive input embeddings": About(
        "eds",
        "E[w] = A_i[w] B_i for a token w of cluster i",
        "Rare tokens have narrower vectors, at the input and in the softmax.",
        (adaptive_softmax.AdaptiveEmbedding.forward,),
    ),
    "Adaptive softmax": About(
        "eds",
        "P(w | h) = head(i) · tail_i(w) for a token w of cluster i > 1",
        "Rare tokens are scored in two steps, first their cluster and then the token, by narrow matrices.",
        (adaptive_softmax.AdaptiveSoftmax.forward,),
    ),
    "Adaptive softmax without projection": About(
        "eds",
        "P(w | h) = head(i) · tail_i(w), tails of full width",
        "The two steps of the adaptive softmax, without narrow matrices.",
        (adaptive_softmax.AdaptiveSoftmax.forward,),
    ),
    "Mixture of softmaxes": About(
        "s",
        "P(w | h) = Σ_k π_k softmax(E tanh(W_k h))_w",
        "Fifteen softmaxes and their weighted mean, because the rank of a single softmax is bounded.",
        (mixture_of_softmaxes.MixtureOfSoftmaxes.forward,),
    ),
    "Transparent attention": About(
        "cx",
        "z^j = Σ_i s_ij h^i: decoder layer j attends to z^j",
        "Each decoder layer attends to its own mixture of all encoder layers.",
        (transparent.TransparentEncoder.forward, transparent.build_transparent),
    ),
    "Dynamic convolution": About(
        "a",
        "u_t = Σ_j softmax(W^Q v_t)_j v_(t − k + j)",
        "No attention: every token computes weights for its nine neighbours.",
        (lightweight_convolution.LightweightConvolution.forward, lightweight_convolution.DynamicConvolution),
    ),
    "Lightweight convolution": About(
        "a",
        "u_t = Σ_j softmax(w)_j v_(t − k + j)",
        "No attention: learned weights for nine neighbours, the same at every position.",
        (lightweight_convolution.LightweightConvolution.forward,),
    ),
    "Evolved Transformer": About(
        "afnx",
        "x ← x + V h ⊙ σ(G h);  x ← x + convolutions(h);  attention;  FFN",
        "A cell that an evolutionary search found: gates and convolutions between attention and feed-forward networks.",
        (evolved.EncoderCell.forward,),
    ),
    "Synthesizer (dense)": _synthetic(
        "S_ts = (W₂ max(0, q_t))_s",
        "Each token computes its weights for all positions from itself; no keys.",
        synthesizer.DenseScores,
    ),
    "Synthesizer (dense plus)": _synthetic(
        "S_ts = (W₂ max(0, q_t))_s + q_t · k_s / √d",
        "Dense scores added to the usual ones.",
        synthesizer.DenseScores,
        synthesizer.Plus,
    ),
    "Synthesizer (dense plus alpha)": _synthetic(
        "S = α dense + (1 − α) q · k / √d",
        "Dense and usual scores in a learned proportion.",
        synthesizer.DenseScores,
        synthesizer.PlusAlpha,
    ),
    "Synthesizer (factorized)": _synthetic(
        "S = R₁ R₂ᵀ", "Learned weights of low rank, the same for all texts.", synthesizer.FactorisedRandomScores
    ),
    "Synthesizer (random)": _synthetic(
        "S = R", "One learned matrix of weights per head, the same for all texts.", synthesizer.RandomScores
    ),
    "Synthesizer (random plus)": _synthetic(
        "S_ts = R_ts + q_t · k_s / √d",
        "A learned matrix added to the usual scores.",
        synthesizer.RandomScores,
        synthesizer.Plus,
    ),
    "Synthesizer (random plus alpha)": _synthetic(
        "S = α R + (1 − α) q · k / √d",
        "A learned matrix and the usual scores in a learned proportion.",
        synthesizer.RandomScores,
        synthesizer.PlusAlpha,
    ),
    "Universal Transformer": About(
        "lr",
        "x^t = block(x^(t − 1) + e^t), the same block for every t; gates instead of x + y",
        "One block, repeated 24 times between two at the start and two at the end, with gates and a vector per step.",
        (gated_universal.GatedUniversalEncoder.forward, gated_universal.GRUGates),
    ),
    "Mixture of experts": About(
        "f",
        "y = Σ_e p_e FFN_e(x) over the 2 best of 32 experts, p = softmax(W x)",
        "In every fourth layer a router sends each token to two of 32 feed-forward networks.",
        (mixture_of_experts.MixtureOfExperts.forward, mixture_of_experts.build_mixture),
    ),
    "Switch Transformer": About(
        "f",
        "y = p_e FFN_e(x), e the best of 32 experts, p = softmax(W x)",
        "A mixture of experts with one expert per token: five times the parameters at about the same operations.",
        (mixture_of_experts.MixtureOfExperts.forward, switch.build_switch),
    ),
    "Funnel Transformer": About(
        "kc",
        "x_t ← (x_2t + x_(2t + 1)) / 2 after every third of the encoder",
        "The encoder halves its text twice, so the decoder attends to a quarter of the vectors.",
        (funnel.FunnelEncoder.forward, funnel.pool),
    ),
    "Weighted Transformer": About(
        "af",
        "y = Σ_i α_i FFN(κ_i head_i W^O_i), Σ α_i = Σ κ_i = 1",
        "Each head is followed by the feed-forward network, and the heads have learned weights.",
        (weighted.Branches.forward,),
    ),
    "Product key memory": About(
        "j",
        "y = Σ softmax(s)_ij v_ij over the best pairs, s_ij = q₁ · c_i + q₂ · c′_j",
        "One feed-forward network of the decoder becomes a table of many vectors that are looked up by pairs of keys.",
        (product_keys.ProductKeyMemory.forward,),
    ),
}


# --- the picture: encoder and decoder, the parts that a row changes marked -----------------------------------

_WIDE, _HIGH, _STEP = 168.0, 24.0, 31.0
_ENCODER = ("embedding", "norm", "attention", "+", "norm", "feed-forward", "+", "norm")
_DECODER = (
    "embedding",
    "norm",
    "attention",
    "+",
    "norm",
    "cross-attention",
    "+",
    "norm",
    "feed-forward",
    "+",
    "norm",
    "softmax",
)
_COLUMNS = ((_ENCODER, 10.0, "encoder: 12 layers"), (_DECODER, 256.0, "decoder: 12 layers"))
PARTS = {
    "a": "attention", "c": "the path from encoder to decoder", "d": "the decoder's embedding", "e": "the encoder's embedding",
    "f": "the feed-forward networks", "j": "one feed-forward network of the decoder", "k": "the encoder's layers",
    "l": "all layers", "m": "the decoder's layers", "n": "the norms", "r": "the residual sums", "s": "the softmax",
    "x": "cross-attention",
}  # fmt: skip
_WORDS = {"attention": "a", "feed-forward": "f", "norm": "n", "+": "r", "softmax": "s", "cross-attention": "x"}
_KINDS = {"norm": "norm", "feed-forward": "network", "cross-attention": "cross-attention"}
_ATTENTION = ("self-attention", "causal attention")
SPRITE = "nlm-two-stacks"


def _place(column: int, at: int) -> tuple[float, float]:
    """Top left of a box; the first is at the bottom."""
    return _COLUMNS[column][1], 20 + _STEP * (len(_DECODER) - 1 - at)


def sprite() -> str:
    """The network without any mark, drawn once and used by every row's picture."""
    canvas = Canvas()
    _draw(canvas)
    return (
        '<div style="display:none"><svg aria-hidden="true">'
        f'<symbol id="{SPRITE}" overflow="visible">{"".join(canvas.parts)}</symbol></svg></div>'
    )


def network_with_counts(rows: Sequence[str]) -> str:
    """The network with the number of rows that change each part behind its name; rows: the parts of each."""
    canvas, counts = Canvas(), {part: sum(part in parts for parts in rows) for part in PARTS}
    counts["f"] += counts.pop("j")
    _draw(canvas, counts)
    layers = counts["l"] + counts["k"] + counts["m"]
    canvas.notes([f"{len(rows)} rows; depth or shared layers: {layers}; path between the sides: {counts['c']}"], 15)
    told = ", ".join(f"{PARTS[part]} {count}" for part, count in counts.items())
    return canvas.svg(f"How many of {len(rows)} rows change each part: {told}.")


def _draw(canvas: Canvas, counts: Mapping[str, int] | None = None) -> None:
    for column, (boxes, left, name) in enumerate(_COLUMNS):
        layers = len(boxes) - (2 if column == 0 else 3)
        first, last = _place(column, layers)[1], _place(column, 1)[1]
        canvas.rect(left - 4, first - 5, _WIDE + 8, last - first + _HIGH + 10, "#f4f4f4", "#bbb", radius=6)
        for at, words in enumerate(boxes):
            x, y = _place(column, at)
            if at:
                canvas.line((x + _WIDE / 2, y + _STEP), (x + _WIDE / 2, y + _HIGH), "#777", 1.5)
            if words == "+":
                canvas.circle(x + _WIDE / 2, y + _HIGH / 2, 11, "#fff", stroke="#555", wide=1.5)
                canvas.text(x + _WIDE / 2, y + _HIGH / 2 + 6, "+", 17, "middle")
                if counts:
                    canvas.text(x + _WIDE / 2 + 16, y + _HIGH / 2 + 5, str(counts["r"]), 15, bold=True)
            else:
                part = "ed"[column] if words == "embedding" else _WORDS[words]
                told = f"{words}: {counts[part]}" if counts else words
                kind = _KINDS.get(words, "table") if words != "attention" else _ATTENTION[column]
                canvas.box(x, y, _WIDE, _HIGH, told, COLOUR[kind], "#555", size=15, radius=4)
        canvas.text(left + _WIDE / 2, _place(column, 0)[1] + _HIGH + 20, name, 15, "middle", bold=True)
    x, y = _place(0, len(_ENCODER) - 1)
    to = _place(1, 5)
    canvas.path(
        f"M{x + _WIDE / 2:.0f} {y:.0f} V{y - 14:.0f} H{x + _WIDE + 40:.0f} V{to[1] + _HIGH / 2:.0f} H{to[0] - 6:.0f}",
        "#777",
        1.5,
    )
    canvas.polygon([(to[0], to[1] + _HIGH / 2), (to[0] - 9, to[1] + 8), (to[0] - 9, to[1] + 18)], "#777")


def marked(parts: str) -> list[tuple[float, float, float, float]]:
    """The rectangles (x, y, width, height) that a row's parts cover."""
    found = []
    for column, (boxes, _, _) in enumerate(_COLUMNS):
        for at, words in enumerate(boxes):
            x, y = _place(column, at)
            if _WORDS.get(words, "-") in parts or (words == "embedding" and "ed"[column] in parts):
                found.append(
                    (x + _WIDE / 2 - 17, y - 4, 34.0, _HIGH + 8)
                    if words == "+"
                    else (x - 3, y - 3, _WIDE + 6, _HIGH + 6)
                )
        layers = len(boxes) - (2 if column == 0 else 3)
        if "l" in parts or "km"[column] in parts:
            x, top, bottom = _place(column, 1)[0], _place(column, layers)[1], _place(column, 1)[1]
            found.append((x - 7, top - 8, _WIDE + 14, bottom - top + _HIGH + 16))
    if "c" in parts:
        x, y = _place(0, len(_ENCODER) - 1)
        found.append((x + _WIDE + 26, y - 24, 28.0, _place(1, 5)[1] - y + 46))
    if "j" in parts:
        found.append((_place(1, 8)[0] - 3, _place(1, 8)[1] - 3, _WIDE + 6, _HIGH + 6))
    return found


@lru_cache(maxsize=64)
def network_svg(parts: str) -> str:
    """Encoder and decoder, what a row changes marked; needs `sprite` on the same page."""
    canvas = Canvas()
    canvas.add(f'<use href="#{SPRITE}"/>', _place(1, 0)[0] + _WIDE + 8, _place(1, 0)[1] + _HIGH + 26)
    for x, y, width, height in marked(parts):
        canvas.rect(x, y, width, height, "#D55E00", "#D55E00", 3, fill_opacity=0.22, radius=6)
    told = ", ".join(PARTS[part] for part in parts) or "nothing: it is the baseline"
    return canvas.svg(f"An encoder and a decoder as boxes; the row changes, marked in orange: {told}.")


# --- the code ------------------------------------------------------------------------------------------------


@lru_cache(maxsize=64)
def code_of(name: str) -> str:
    """The row's line of the catalogue, and the source of its parts, as it runs here."""
    lines = inspect.getsource(catalogue).split("\n")
    found = [line.strip() for line in lines if re.match(rf'\s+Variant\("{re.escape(name)}",', line)]
    for part in ABOUT[name].code:
        where = part.__module__.replace(".", "/") + ".py"
        found += ["", f"# {where}: {part.__qualname__}", textwrap.dedent(inspect.getsource(part)).rstrip()]
    return "\n".join(found)


@lru_cache(maxsize=64)
def card_html(name: str) -> str:
    """What a row of the table opens to: its line, equation, picture and folded code."""
    about, source = ABOUT[name], catalogue.CATALOGUE[name]
    unknown = f"<p>Not recovered from the paper: {html.escape(source.unknown)}.</p>" if source.unknown else ""
    changes = ", ".join(PARTS[part] for part in about.parts) or "nothing"
    return (
        '<div style="display:flex;flex-wrap:wrap;gap:20px;padding:8px 4px 14px">'
        f'<div style="flex:0 1 430px">{network_svg(about.parts)}</div>'
        f'<div style="flex:1 1 340px;min-width:0;font-size:16px;line-height:1.45"><p style="margin:4px 0">{html.escape(about.line)}</p>'
        f'<p style="margin:8px 0;font-family:monospace">{html.escape(about.equation)}</p>'
        f'<p style="margin:8px 0">Changes: {changes}. Source: {html.escape(source.source)}.</p>{unknown}'
        f'<details><summary style="cursor:pointer"><b>code</b></summary><pre style="font-size:14px;overflow:auto">'
        f"{html.escape(code_of(name))}</pre></details></div></div>"
    )
