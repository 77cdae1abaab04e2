"""The living model: one drawn language model whose parts a reader switches off while it reads a sentence.

    widgets.living(model, tokenizer, "The capital of France is")
    widgets.living(model, tokenizer, "The capital of France is", window=4)                        keys off
    widgets.living(model, tokenizer, "The teacher", directions={0: plural}, strength=1.0)         steering
    widgets.living(model, tokenizer, "How are you?", encode=in_chat)                              in a template
    widgets.living(encoder, letters, "know_edge", mask="_")                       a masked language model

`living.js` draws and listens. It asks here what a switch does (`Machine`): a line of JSON in a hidden field there, one
in a hidden place back. A page without Python has `stored` answers, one change at a time.
"""

import base64
import html
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from pathlib import Path
from typing import Any

import ipywidgets
import numpy as np
import torch
from torch import Tensor, nn

from nlmcore.attention import window_mask
from nlmcore.inspect import Part, Sizes, Switches, direct_logits, sizes

__all__ = ["Living", "living"]

SCRIPT = Path(__file__).with_suffix(".js")
STYLE = Path(__file__).with_suffix(".css")
LONGEST = 24
VIEWS = ("adds", "lens", "direct")
SHOWN, LINES = 10, 700
"""How many next words an answer has, and how many lines from word to word are drawn: the strongest."""
WINDOWS, REACH, STEP = (4, 8, 16), 3.0, 0.5
"""The windows to choose from; how far a strength goes to either side, and in which steps."""
EXPLAINED = {
    "head": ("13_self_attention", "6. What the heads of a language model read"),
    "network": ("15_transformer_language_model", "2. The two small parts: norm and feed-forward network"),
    "layer": ("15_transformer_language_model", "1. A pathway to which every layer adds"),
    "lens": ("15_transformer_language_model", "4. Reading the pathway"),
    "direct": ("23_inside_a_real_model", "2. Who wrote the logit?"),
}
"""What explains a part, or a view of all of them: a lecture and its section."""

Change = Callable[[Tensor, Tensor, float], Tensor]
"""(vector at the last token, direction, strength) -> new vector"""
Encode = Callable[[str], Sequence[int]]
"""What the model reads for a sentence."""


class Filling(nn.Module):
    """A masked language model, in the shape in which `Switches` reads a decoder."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.config, self.head, self.encoder = model.config, [model], [model.encoder]  # each module is registered once
        self.layers, self.final_norm = model.encoder.layers, model.encoder.final_norm

    def hidden_states(self, tokens: Tensor) -> tuple[Tensor, None]:
        return self.encoder[0](tokens), None

    def output(self, h: Tensor) -> Tensor:
        logits: Tensor = self.head[0].logits(h)
        return logits


def steered(x: Tensor, direction: Tensor, strength: float) -> Tensor:
    return x + strength * direction


class Machine:
    """One sentence in a model, and the messages about it. A part is "18.6", a head, or with the number after the last
    head, a network."""

    def __init__(
        self,
        model: Any,
        tokenizer: Any,
        text: str,
        directions: Mapping[int, Tensor],
        change: Change = steered,
        follow: Sequence[str] = (),
        encode: Encode | None = None,
        mask: str | None = None,
    ) -> None:
        self.model: Any = Filling(model) if mask else model
        self.tokenizer, self.encode, self.mask = tokenizer, encode or tokenizer.encode, mask
        self.directions, self.change = directions, change
        self.follow = [tokenizer.encode(word)[0] for word in follow]
        self.layers, self.heads = len(self.model.layers), model.config.n_heads
        self.read(text)

    def read(self, text: str) -> None:
        self.begin(self.encode(text), text)

    def begin(self, ids: Sequence[int], text: str = "") -> None:
        """text: of a sentence that was chosen. Raises ValueError, in words, if there are too few or too many tokens."""
        if not 2 <= len(ids) <= LONGEST:
            raise ValueError(f"The picture has room for 2 to {LONGEST} tokens; this sentence has {len(ids)}.")
        hidden = tuple(self.tokenizer.encode(self.mask)) if self.mask else ()
        if hidden and list(ids).count(*hidden) != 1:
            raise ValueError(f"Write {self.mask} once, for what the model is to fill in.")
        self.ids, self.text = list(ids), text
        self.position = self.ids.index(*hidden) if hidden else len(self.ids) - 1
        self.switches = Switches(self.model, torch.tensor([self.ids]), self.position)
        self.whole = self.switches.off([])

    def sheet(self) -> dict[str, Any]:
        """What the picture of a sentence is drawn from."""
        found: Sizes = sizes(self.model, torch.tensor([self.ids]))
        brought = found.brought * (1 - torch.eye(len(self.ids)))
        values, at = brought.flatten().topk(min(LINES, brought.numel()))
        places = np.stack(np.unravel_index(at.numpy(), brought.shape), axis=1).tolist()
        return {
            "text": self.text,
            "tokens": [self.name(i) for i in self.ids],
            "layers": self.layers,
            "heads": self.heads,
            "position": self.position,
            "fills": bool(self.mask),
            "weights": self.bytes(found.weights),
            "lines": [[*of, round(w, 3)] for of, w in zip(places, values.tolist(), strict=True) if w > 0],
            "adds": [[round(float(x), 3) for x in row] for row in found.heads[..., self.position]],
            "networks": [[round(float(x), 2) for x in row] for row in found.networks],
            "next": self.next(self.whole),
            "follow": self.follow,
            "lens": self.lens(),
            "direct": self.direct(),
        }

    def lens(self) -> dict[str, Any]:
        """What every depth would say at the last token: [its first guess, p of it, p of the word that the whole model
        puts first]; and the tokens at which its first guess is already the last layer's."""
        read = self.switches.lens()
        guesses, final = read.argmax(-1), self.whole.argmax()
        rows = [
            [self.name(int(guess)), *(round(float(x.exp()), 4) for x in (log_p.max(), log_p[final]))]
            for guess, log_p in zip(guesses[:, self.position], read[:, self.position], strict=True)
        ]
        return {"last": rows, "same": (guesses == guesses[-1]).int().tolist()}

    def direct(self) -> list[list[float]] | None:
        """What each head and each network of a layer writes to the logit of the likeliest word, less that of the second;
        None where the pathway is no plain sum, or the logits are not linear in it."""
        if self.mask:
            return None
        first, second = self.whole.topk(2).indices
        weight = self.model.output.weight
        try:
            parts = direct_logits(self.model, torch.tensor([self.ids]), weight[first] - weight[second])
        except ValueError:
            return None
        of = [[f"attention.{k}" for k in range(self.heads)] + ["feed_forward"]] * self.layers
        return [[round(float(parts[f"layers.{i}.{name}"][0, -1]), 2) for name in row] for i, row in enumerate(of)]

    def asked(self, message: Mapping[str, Any]) -> dict[str, Any]:
        """The answer to a message of the page. With a new text, or one more token, comes a new sheet."""
        told: dict[str, Any] = {}
        if "text" in message or "write" in message:
            if "write" in message:
                self.begin([*self.ids, int(message["write"])])
            else:
                self.read(message["text"])
            told["sheet"] = self.sheet()
        if "each" in message:
            alone = self.switches.each(message["each"])
            return told | {"each": self.tops(alone), "next": self.next(alone[-1])}
        told["next"] = self.next(self.changed(message))
        if "look" in message:
            layer, head = map(int, message["look"].split("."))
            told["weights"] = self.bytes(self.switches.weights(layer)[head])
        if "lens" in message:
            told["lens"] = self.lens()
        return told

    def changed(self, asked: Mapping[str, Any]) -> Tensor:
        """Log-probabilities of the next token with what is asked for.

        off: names of parts; window: how many tokens each token sees, itself included; kept: positions that all later
        tokens see nevertheless; layer, strength: how much of the direction after this layer is added at the last token.
        """
        mask, steer, n = None, None, len(self.ids)
        if asked.get("window"):
            mask, kept = window_mask(n, asked["window"]), asked.get("kept", [])
            mask[:, kept] = window_mask(n, None)[:, kept]
        if asked.get("strength"):
            steer = asked["layer"], lambda x: self.steer(x, self.directions[asked["layer"]], asked["strength"])
        return self.switches.off(map(self.part, asked.get("off", [])), mask, steer)

    def steer(self, x: Tensor, direction: Tensor, strength: float) -> Tensor:
        """Raises ValueError, in words, if a change of your own raises or returns another shape."""
        try:
            return self.change(x[0, 0], direction, strength).reshape(x.shape)
        except Exception as error:
            raise ValueError(f"Your change raised {type(error).__name__}: {error}") from error

    def alone(self, windows: Sequence[int]) -> Iterator[tuple[str, Tensor]]:
        """For a page without Python: these windows, alone and with one more token, and every strength of a direction."""
        n = len(self.ids)
        for window in (w for w in windows if w < n):
            for kept in ([], *([i] for i in range(n - window))):
                yield f"w{window}{''.join(f'+{i}' for i in kept)}", self.changed({"window": window, "kept": kept})
        for layer in self.directions:
            for strength in np.arange(-REACH, REACH + STEP, STEP):
                yield f"s{layer}:{strength:g}", self.changed({"layer": layer, "strength": float(strength)})

    def part(self, name: str) -> Part:
        layer, number = map(int, name.split("."))
        return layer, None if number == self.heads else number

    def name(self, token: int) -> str:
        return str(self.tokenizer.decode([token])).replace("\n", "↵")

    def bytes(self, weights: Tensor) -> str:
        """Attention (…, query, key) as bytes in base64; of a decoder its lower triangle only."""
        seen = np.tril(np.ones(weights.shape[-2:], dtype=bool)) | bool(self.mask)
        return base64.b64encode(np.rint(255 * weights.numpy()[..., seen]).astype(np.uint8).tobytes()).decode()

    def next(self, log_p: Tensor) -> list[list[Any]]:
        """[token, its words, probability]: the likeliest now, those that are likeliest with everything on, and those
        that are followed."""
        ids = dict.fromkeys([*log_p.topk(SHOWN).indices.tolist(), *self.whole.topk(3).indices.tolist(), *self.follow])
        return [[i, self.name(i), round(float(log_p[i].exp()), 4)] for i in ids]

    def tops(self, rows: Tensor) -> list[float]:
        """The probability of the word that is likeliest with everything on."""
        return [round(p, 4) for p in rows[:, self.whole.argmax()].exp().tolist()]


class Living(ipywidgets.VBox):
    """The picture, the field in which the page asks, and the place where it is told."""

    def __init__(self, machine: Machine, sentences: Sequence[str], opens: Mapping[str, Any]) -> None:
        self.machine, self.sentences, self.opens = machine, list(sentences), dict(opens)
        self.first = machine.sheet()
        self.now = machine.next(machine.changed(opens))
        boot = (
            "if(!window.nlmLiving){const s=document.createElement('script');"
            "s.textContent=this.parentElement.querySelector('script').textContent;document.head.append(s)}"
            "window.nlmLiving.live(this.parentElement)"
        )
        script = f'<script type="text/plain">{SCRIPT.read_text(encoding="utf-8")}</script>'  # it does not run by itself
        self.picture = ipywidgets.HTML(script + self.html(boot))
        self.asks = ipywidgets.Text(continuous_update=True)
        self.tells = ipywidgets.HTML(_hidden({"n": 0, "sheet": self.first, "next": self.now}))
        for part, name in ((self.asks, "nlm-living-asks"), (self.tells, "nlm-living-tells")):
            part.add_class(name)
            part.layout.display = "none"
        super().__init__([self.picture, self.asks, self.tells])
        self.add_class("nlm-living-box")
        self.asks.observe(self._asked, names="value")

    def _asked(self, change: Mapping[str, Any]) -> None:
        message = json.loads(change["new"] or "{}")
        if not message:
            return
        try:
            told = self.machine.asked(message)
        except ValueError as error:
            told = {"error": str(error)}
        self.tells.value = _hidden({"n": message["n"], **told})

    def html(self, boot: str = "", states: str = "") -> str:
        """The place of the picture. Until the script draws it, and without it, the next words as a table.

        boot: what draws it in a notebook, as soon as its style is there. states: where a page has its stored answers.
        """
        rows = "".join(f"<tr><th>{html.escape(word)}</th><td>{p:.3f}</td></tr>" for _, word, p in self.now[:5])
        place = f' data-states="{states}"' if states else ""
        scale = {"windows": WINDOWS, "strongest": REACH, "notch": STEP}
        told = {"sentences": self.sentences, "explained": EXPLAINED, "scale": scale, **self.opens}
        style = f'<style onload="{html.escape(boot)}">{STYLE.read_text(encoding="utf-8")}</style>' if boot else ""
        return (
            f'{style}<div class="nlm-living"{place}'
            f' data-told="{html.escape(json.dumps(told, ensure_ascii=False))}"><p>{html.escape(self.first["text"])}{"" if self.first["fills"] else " …"}</p>'
            f"<table><caption>The {'hidden' if self.first['fills'] else 'next'} token, with its probability</caption>{rows}</table></div>"
        )

    def _reading(self, text: str) -> Machine:
        machine = copy(self.machine)
        machine.read(text)
        return machine

    def next(self, text: str = "", **asked: Any) -> dict[str, float]:
        """The next words with their probabilities for a text, the first unless given, as in `Machine.changed`."""
        machine = self._reading(text or self.sentences[0])
        return {word: p for _, word, p in machine.next(machine.changed(asked))}

    def stored(self) -> list[dict[str, Any]]:
        """For a page without Python: the sentences, each with what every single change does."""
        return [self._stored(text) for text in self.sentences]

    def _stored(self, text: str) -> dict[str, Any]:
        """A sheet with its answers for each part off, for each layer, and for each state of the other controls."""
        machine = self._reading(text)
        answers = dict(machine.alone(WINDOWS if self.opens["window"] else ()))
        for layer in range(machine.layers):
            names = [*(f"{layer}.{k}" for k in range(machine.heads + 1)), f"{layer}"]
            answers |= zip(names, machine.switches.each(layer), strict=True)
        found = {name: machine.next(log_p) for name, log_p in answers.items()}
        words = {i: word for rows in found.values() for i, word, _ in rows}
        every = {name: [[i, p] for i, _, p in rows] for name, rows in found.items()}
        return {**machine.sheet(), "words": words, "every": every}

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        data = super()._repr_mimebundle_(**kwargs)
        if isinstance(data, dict):
            data["text/html"] = self.html()  # what is shown where no kernel runs
        return data


def _hidden(message: Mapping[str, Any]) -> str:
    return f"<span hidden>{html.escape(json.dumps(message, ensure_ascii=False), quote=False)}</span>"


def living(
    model: Any,
    tokenizer: Any,
    *sentences: str,
    at: str = "",
    view: str = "adds",
    window: int | None = None,
    directions: Mapping[int, Tensor] | None = None,
    layer: int | None = None,
    strength: float = 0.0,
    yours: Change = steered,
    follow: Sequence[str] = (),
    encode: Encode | None = None,
    mask: str | None = None,
) -> Living:
    """A model at work on a sentence: press a layer, a head or a network, and it is off.

    sentences: the first is shown, the others can be chosen, and any can be typed (2 to 24 tokens). at: the part that is
    looked at first, "23" for a layer or "23.4" for a head. view: what the picture shows first, how much each part "adds",
    what each layer would say ("lens", the logit lens), or what each part writes for the next word ("direct", direct logit
    attribution). window: 4, 8 or 16; every token then sees only so many, itself included, until one that is further back
    is pressed. directions: layer -> (d_model,), which can be added after that layer at the last token; layer and strength:
    of the one that is added first. yours: a change of your own in place of `steered`. follow: words whose probabilities are
    told. encode: what the model reads for a sentence, in place of `tokenizer.encode`. mask: of a `MaskedLM`, what
    hides the token that it fills in, once a sentence. Raises ValueError if there is no sentence, or for another
    view, window or layer.
    """
    if not sentences:
        raise ValueError("living needs a sentence: living(model, tokenizer, 'The capital of France is')")
    if view not in VIEWS:
        raise ValueError(f"view must be one of {', '.join(map(repr, VIEWS))}, got {view!r}")
    if window not in (None, *WINDOWS):
        raise ValueError(f"window must be one of {', '.join(map(str, WINDOWS))}, got {window!r}")
    directions = directions or {}
    layer = next(iter(directions), None) if layer is None else layer
    if directions and layer not in directions:
        raise ValueError(f"layer must be one of directions, {', '.join(map(str, directions))}, got {layer!r}")
    if mask and (window or directions):
        raise ValueError("mask must be without window and directions, which act on a decoder")
    machine = Machine(model, tokenizer, sentences[0], directions, yours, follow, encode, mask)
    opens = {"at": at, "view": view, "window": window, "layer": layer, "strength": strength, "layers": [*directions]}
    return Living(machine, sentences, opens)
