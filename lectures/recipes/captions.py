"""Checkpoints and figures: captions of pictures, and whether attention is where the named symbol is.

Xu et al. (2015), "Show, attend and tell", show pictures of attention. Here the place of every named thing is known
(`scenes`), so attention is scored: its mass in the box of the symbol that the word names, for two encoders with the
same 4 × 8 locations. Baselines for a high mass: the box's area (chance), attention that only follows brightness, the
other symbol's box, the attention that the model pays to another picture, and the best that can be done without looking
(blind). An intervention says what the word depends on: ln P of the word when one symbol is erased.

Departs from the paper: small grey pictures of two symbols, encoders trained from nothing with the decoder.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from lectures.trained import build
from nlmcore.decoding import greedy
from nlmcore.inspect import capture
from nlmcore.metrics import mean_interval
from nlmcore.tokens import WordTokenizer
from nlmcore.training import next_token_loss
from nlmcore.vision import doubly_stochastic
from torch import Tensor

from lectures.recipes.experiment import columns, over
from lectures.recipes.run import Run, about, add_figures, parameters, recipe, save_checkpoint
from lectures.recipes.scenes import COLUMNS as WIDTH
from lectures.recipes.scenes import HALVES, NAMES, Layout, Scene, by_location, in_box, scenes
from lectures.recipes.scenes import ROWS as HEIGHT

BOS, EOS, STEP, LONGEST = 1, 2, 4, 8
TOKENIZER = WordTokenizer(sorted({*NAMES, "a", "an", "left", "of"}))
TRAINING = {"steps": 900, "batch": 32, "learning_rate": 4e-3, "warm_up": 50, "schedule": "cosine to 0"}
ENCODERS: dict[str, dict[str, Any]] = {
    "convolutional": {"class": "ConvEncoder", "channels": [16, 32, 32], "pools": [2, 2, 1], "coordinates": True},
    "patches": {
        "class": "VisionTransformer", "height": HEIGHT, "width": WIDTH, "patch_size": STEP, "d_model": 32, "n_heads": 4,
        "n_layers": 2, "class_token": False,
    },
}  # fmt: skip
ROWS = {"convolutional": 0.0, "patches": 0.0, "convolutional, doubly stochastic": 1.0}
"""Row -> λ, the weight of the doubly stochastic penalty."""
KEPT = {"convolutional": "convolutional, doubly stochastic", "patches": "patches"}
"""Encoder -> the row whose first seed becomes a checkpoint: without the penalty, most convolutional ones fail."""


def ids(captions: Sequence[str]) -> tuple[Tensor, Tensor]:
    """(caption, time) from `<bos>` to `<eos>`, and True for real tokens."""
    rows = [[BOS, *TOKENIZER.encode(caption), EOS] for caption in captions]
    tokens = torch.tensor([row + [0] * (LONGEST - len(row)) for row in rows])
    return tokens, tokens != 0


@dataclass(frozen=True)
class Pictures:
    """Called with an epoch: new pictures of pairs that are not held out, with their captions."""

    batch: int
    seed: int
    layout: Layout = HALVES

    def __call__(self, epoch: int) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
        found = scenes(50 * self.batch, self.seed + epoch, False, self.layout)
        for first in range(0, len(found), self.batch):
            batch = found[first : first + self.batch]
            yield torch.stack([one.image for one in batch]), *ids([one.caption for one in batch])


def caption_loss(model: Any, batch: tuple[Tensor, Tensor, Tensor], penalty: float = 0.0) -> Tensor:
    """Nats per word, and λ times the doubly stochastic penalty."""
    images, tokens, mask = batch
    seen: list[Tensor] = []
    model.decoder.attention.recorder = seen.append if penalty else None
    logits, _ = model(tokens[:, :-1], model.encode(images))
    model.decoder.attention.recorder = None
    loss = next_token_loss(logits, tokens[:, 1:], mask[:, 1:])
    return loss + penalty * doubly_stochastic(seen[0][:, 0], mask[:, 1:]) if penalty else loss


def config(kind: str) -> dict[str, Any]:
    return {"encoder": ENCODERS[kind], "vocab_size": TOKENIZER.vocab_size, "d_embedding": 16}


def describe(model: Any, images: Tensor) -> list[str]:
    """The greedy caption of each picture."""
    prompt = torch.full((len(images), 1), BOS)
    written: Any = greedy(model, prompt, LONGEST, eos=EOS, state=model.encode(images))
    return [TOKENIZER.decode([t for t in row if t > EOS]) for row in written.tokens.tolist()]


@torch.no_grad()
def reading(model: Any, pictures: Sequence[Scene]) -> tuple[Tensor, Tensor, Tensor]:
    """The reference caption read: attention (picture, word, location), ln P of each word, and the words."""
    tokens, mask = ids([one.caption for one in pictures])
    images = torch.stack([one.image for one in pictures])
    with capture(model) as tape:
        logits, _ = model(tokens[:, :-1], model.encode(images))
    log_p = logits.log_softmax(-1).gather(2, tokens[:, 1:, None]).squeeze(2)
    return tape["decoder.attention"][:, 0], log_p * mask[:, 1:], tokens[:, 1:]


def noun_at(one: Scene, which: int) -> int:
    """At which word of the caption, counted from 0, its symbol is named."""
    words = one.caption.split()
    return 1 if which == 0 else len(words) - 1


def erased(one: Scene, which: int) -> Scene:
    """The same picture without one symbol."""
    top, left, bottom, right_ = one.boxes[which]
    image = one.image.clone()
    image[top:bottom, left:right_] = 0
    return Scene(image, one.caption, one.names, one.boxes)


def touched(pictures: Sequence[Scene]) -> Tensor:
    """(picture, symbol, location), 1 where the symbol's box touches the location, else 0."""
    return torch.stack(
        [torch.stack([in_box(box, STEP, one.image.shape[1]).float() for box in one.boxes]) for one in pictures]
    )


def without_looking(boxes: Tensor) -> Tensor:
    """(symbol): the mass in its box of the best attention that is the same for every picture.

    A mass is a mean over locations, so the best is all of it in the location that most boxes touch.
    """
    return boxes.mean(0).amax(-1)


def scored(model: Any, pictures: Sequence[Scene]) -> dict[str, float]:
    """Of the words that name a symbol: attention's mass in its box and in the other's, that of its attention to the
    next picture, chance, the best without looking, the brightness' mass, whether the largest weight lies in the box, and
    how much ln P falls when the symbol or the other one is erased."""
    weights, log_p, _ = reading(model, pictures)
    without = [reading(model, [erased(one, which) for one in pictures])[1] for which in (0, 1)]
    boxes = touched(pictures)
    light = torch.stack([by_location(one.image, STEP) for one in pictures])
    rows = torch.arange(len(pictures))
    found: dict[str, list[Tensor]] = {}
    for which in (0, 1):
        words = torch.tensor([noun_at(one, which) for one in pictures])
        paid, own = weights[rows, words], boxes[:, which]
        for name, values in {
            "in_box": (paid * own).sum(-1),
            "in_other": (paid * boxes[:, 1 - which]).sum(-1),
            "another_picture": (paid.roll(1, 0) * own).sum(-1),
            "chance": own.mean(-1),
            "blind": without_looking(boxes)[which],
            "brightness": (light * own).sum(-1) / light.sum(-1),
            "largest_in_box": own[rows, paid.argmax(-1)],
            "erased": log_p[rows, words] - without[which][rows, words],
            "other_erased": log_p[rows, words] - without[1 - which][rows, words],
        }.items():
            found.setdefault(name, []).append(values.mean())
    return {name: round(float(torch.stack(of).mean()), 4) for name, of in found.items()}


def measure(model: Any, count: int, layout: Layout = HALVES) -> dict[str, Any]:
    """Captions that are right, of pairs seen and not seen in training; and scores of attention on the latter."""
    found: dict[str, Any] = {}
    for name, held_out in (("right", False), ("right_new_pairs", True)):
        pictures = scenes(count, 10_000 + held_out, held_out, layout)
        captions = describe(model, torch.stack([one.image for one in pictures]))
        found[name] = round(sum(c == one.caption for c, one in zip(captions, pictures, strict=True)) / count, 4)
    return found | scored(model, scenes(count, 10_001, True, layout))


def file_of(row: str, seed: int) -> str:
    return f"{row}-{seed}".replace(" ", "_").replace(",", "")


def train(run: Run, row: str, seed: int) -> Any:
    kind, penalty = row.partition(",")[0], ROWS[row]
    model: Any = run.build(f"{row}-{seed}", partial(build, "Captioner", config(kind)))
    training = TRAINING | {"steps": run.size(TRAINING["steps"], 2), "penalty": penalty, "seed": seed}
    batches = Pictures(run.size(32, 2), 1000 * seed)
    run.fit_as(file_of(row, seed), model, batches, training, loss=partial(caption_loss, penalty=penalty))
    return model.eval()


def sample(model: Any, tokenizer: Any) -> dict[str, float]:
    """Figures of 40 pictures."""
    found = measure(model, 40)
    return {name: found[name] for name in ("right_new_pairs", "in_box", "erased")}


@recipe(8, "checkpoint:captions_convolutional checkpoint:captions_patches result:captions", sample=sample)
def cook(run: Run) -> None:
    count = run.size(200, 4)
    rows = over(run, dict.fromkeys(ROWS, 5), lambda row, seed: measure(train(run, row, seed), count))
    for kind, row in KEPT.items():
        name = f"captions_{kind}"
        facts = about(
            f"captions of pictures of two symbols, by an LSTM with attention; the encoder: {kind}",
            {"source": "glyphs of DejaVu Sans, of matplotlib", "split": "a fifth of the pairs is held out"},
            TRAINING | {"penalty": ROWS[row]},
        )
        model = train(run, row, 0)
        kept, _, _ = save_checkpoint(run, name, model, config(kind), [TOKENIZER], facts, [file_of(row, 0)])
        add_figures(run, name, {"new pictures": measure(kept, count)})
    told = {row: columns(runs) for row, runs in rows.items()}
    sizes = {kind: parameters(build("Captioner", config(kind))) for kind in ENCODERS}
    run.save_result(
        "captions",
        {
            "question": "Is attention where the named symbol is? (Xu et al. 2015, with symbols instead of photographs)",
            "how": f"{count} pictures of pairs that training left out (right: of other pairs), one value per seed; masses"
            " of attention at the words that name a symbol, in the locations that its box touches; erased: by how many"
            f" nats ln P of the word falls without that symbol; {TRAINING['steps']} steps of {TRAINING['batch']} pictures;"
            f" parameters: {', '.join(f'{kind} {size:,}' for kind, size in sizes.items())}",
            "parameters": sizes,
            "rows": told,
            "what_it_shows": "; ".join(
                f"{row}: {mean_interval(by['right_new_pairs'])[0]:.0%} of new pairs right, attention in the box"
                f" {mean_interval(by['in_box'])[0]:.0%}, in the other's {mean_interval(by['in_other'])[0]:.0%}"
                for row, by in told.items()
            ),
        },
    )
