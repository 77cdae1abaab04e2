"""Figure: the most probable text is dull, and sometimes not even the best. Two measurements.

1. Holtzman, Buys, Du, Forbes & Choi (2020), "The curious case of neural text degeneration", figures 1 and 2: people do
   not write what is most probable. Passages of Shakespeare's test plays are cut after a prompt, and two models go on:
   SmolLM2, and the course's small GPT that has read the other plays. For Shakespeare's own continuation and for each
   way of decoding: the model's mean probability per token (the geometric mean, exp of the mean ln P), the same along
   the text, and the share of groups of four tokens that stood in the same continuation before. In the paper, beam
   search loops and its probability rises with every repetition.

2. Stahlberg & Byrne (2019), "On NMT search errors and model errors: cat got your tongue?": a wider beam finds more
   probable translations that are worse, down to the empty one. The course's translators without attention, decoded
   with wider and wider beams: log-probability, quality, length against the reference, and how often nothing is written.
"""

import math
from collections.abc import Callable
from statistics import mean
from typing import Any

import torch
from nlmcore.corpora import pad
from nlmcore.decoding import beam_search, greedy, sample
from nlmcore.metrics import corpus_bleu, error_rate
from lectures.trained import FOLDER, checkpoint
from torch import Tensor

from lectures.recipes.pairs import BOS, EOS, as_source, draw_many, english, german, load_dictionary
from lectures.recipes.run import Run, load_smollm2, recipe
from lectures.recipes.texts import plays

PROMPT, NEW, WINDOW = 48, 96, 12
BEAM, TOP_P, TOP_K = 4, 0.95, 40
BEAMS = (1, 2, 4, 16, 64, 256)


# --- 1. dull text ---


def ways(generator: torch.Generator, new: int) -> dict[str, Callable[[Any, Tensor], Tensor]]:
    """Name -> continuation (row, new) of prompts (row, time)."""

    def beam(model: Any, prompts: Tensor) -> Tensor:
        found: Any = [beam_search(model, row[None], new, beam_size=BEAM)[0][0] for row in prompts]
        return torch.tensor([hypothesis.tokens for hypothesis in found])

    def drawn(**filters: Any) -> Callable[[Any, Tensor], Tensor]:
        return lambda model, prompts: _tokens(sample(model, prompts, new, generator=generator, **filters))

    return {
        f"beam {BEAM}": beam,
        "greedy": lambda model, prompts: _tokens(greedy(model, prompts, new)),
        f"top-k {TOP_K}": drawn(top_k=TOP_K),
        f"top-p {TOP_P}": drawn(top_p=TOP_P),
        "sampled": drawn(),
    }


def _tokens(generation: Any) -> Tensor:
    return generation.tokens


@torch.no_grad()
def log_probs_of(model: Any, prompts: Tensor, continuation: Tensor) -> Tensor:
    """ln P of every token of the continuation, (row, new)."""
    text = torch.cat([prompts, continuation], dim=1)
    logits, _ = model(text[:, :-1])
    after = logits[:, prompts.shape[1] - 1 :].log_softmax(-1)
    return after.gather(-1, continuation[:, :, None])[:, :, 0]


def repeated(tokens: list[int], n: int = 4) -> float:
    """Share of the groups of n tokens that stood in the same text before."""
    seen: set[tuple[int, ...]] = set()
    groups = [tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1)]
    again = 0
    for group in groups:
        again += group in seen
        seen.add(group)
    return again / len(groups)


def facts(log_probs: Tensor, continuation: Tensor) -> dict[str, Any]:
    """One row of the table: mean probability per token, along the text, its scatter, and repetition."""
    windows = log_probs.mean(0).split(WINDOW)
    return {
        "probability": round(math.exp(log_probs.mean()), 4),
        "along": [round(math.exp(part.mean()), 4) for part in windows],
        "improbable": round((log_probs < math.log(0.01)).float().mean().item(), 4),
        "repeated": round(mean(map(repeated, continuation.tolist())), 4),
    }


def passages(tokenizer: Any, count: int, new: int) -> Tensor:
    """Passages of prompt and continuation, spread evenly over the test plays, (count, PROMPT + new)."""
    texts = [tokenizer.encode(text) for text in plays().test]
    every = [ids for ids in texts if len(ids) > 2 * (PROMPT + new)]
    chosen = []
    for i in range(count):
        ids = every[i % len(every)]
        start = (len(ids) - PROMPT - new) * (i // len(every) + 1) // (-(-count // len(every)) + 1)
        chosen.append(ids[start : start + PROMPT + new])
    return torch.tensor(chosen)


def write_on(run: Run, model: Any, tokenizer: Any, count: int, new: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Rows by way of decoding, Shakespeare first; and the first passage with every token's probability."""
    text = passages(tokenizer, count, new)
    prompts, human = text[:, :PROMPT], text[:, PROMPT:]
    generator = torch.Generator().manual_seed(run.seed_of("sampling"))
    texts = {"Shakespeare": human}
    texts |= {name: go_on(model, prompts) for name, go_on in ways(generator, new).items()}
    rows: dict[str, Any] = {}
    example: dict[str, Any] = {"prompt": tokenizer.decode(prompts[0].tolist())}
    for name, continuation in texts.items():
        log_probs = log_probs_of(model, prompts, continuation)
        rows[name] = facts(log_probs, continuation)
        example[name] = {
            "text": tokenizer.decode(continuation[0].tolist()),
            "probabilities": [round(p, 4) for p in log_probs[0].exp().tolist()],
        }
        run.say(f"  {name}: {rows[name]['probability']:.2f} per token, repeated {rows[name]['repeated']:.0%}")
    return rows, example


# --- 2. wide beams ---


@torch.no_grad()
def translations(model: Any, sources: list[list[int]], beam: int, longest: int) -> list[tuple[list[int], float]]:
    """Best hypothesis of a beam of that size for every source, without <eos>, and its log-probability."""
    source, mask = pad([as_source(ids) for ids in sources])
    prompt = torch.full((len(sources), 1), BOS)
    found: Any = beam_search(
        model, prompt, longest, eos=EOS, state=model.encode(source, mask), beam_size=beam, num_hypotheses=1
    )
    return [([t for t in ranked[0].tokens if t != EOS], ranked[0].log_prob) for ranked in found]


def widen(
    run: Run, name: str, sources: list[str], references: list[list[str]], quality: Callable[[list[str]], float]
) -> dict[str, dict[str, float]]:
    """Beam size -> log-probability, quality, length over the shortest reference's, share of empty texts."""
    model, tokenizer, _ = checkpoint(name, FOLDER)
    ids = [tokenizer.source.encode(text) for text in sources]
    rows = {}
    for beam in run.size(BEAMS, BEAMS[:2]):
        found = translations(model, ids, beam, run.size(60, 8))
        said = [tokenizer.target.decode(tokens) for tokens, _ in found]
        lengths = [min(len(r.split()) for r in allowed) for allowed in references]
        rows[str(beam)] = {
            "log_prob": round(mean(log_prob for _, log_prob in found), 3),
            "quality": round(quality(said), 2),
            "length": round(sum(len(tokens) for tokens, _ in found) / sum(lengths), 4),
            "empty": round(mean(not tokens for tokens, _ in found), 4),
        }
        run.say(f"  beam {beam}: {rows[str(beam)]}")
    return rows


def curses(run: Run) -> dict[str, Any]:
    count = run.size(100, 3)
    numbers = draw_many(run.seed_of("numbers"), count, 15, 20)
    german_words = [german(n) for n in numbers]
    run.say("numbers into German, one vector, 15 to 20 words")
    into_german = widen(
        run,
        "numbers_initial_20",
        [english(n) for n in numbers],
        [[words] for words in german_words],
        lambda said: corpus_bleu(said, german_words),
    )
    entries = dict(list(load_dictionary().test.items())[:: run.size(20, 2000)])
    allowed = [[said.split() for said in pronunciations] for pronunciations in entries.values()]
    run.say("letters to phonemes, one vector")
    phonemes = widen(
        run,
        "pronunciation_initial",
        list(entries),
        list(entries.values()),
        lambda said: 100 * error_rate([s.split() for s in said], allowed, alternatives=True),
    )
    return {
        "numbers": {"what": f"{count} numbers of 15 to 20 words into German; quality: BLEU", "beams": into_german},
        "phonemes": {"what": f"{len(entries)} words; quality: phoneme errors in percent", "beams": phonemes},
    }


@recipe(9)
def cook(run: Run) -> None:
    smollm2, its_tokenizer = load_smollm2()
    gpt, own_tokenizer, _ = checkpoint("bpe_gpt", FOLDER)
    new = run.size(NEW, WINDOW)
    run.say("SmolLM2 (135 million parameters)")
    big, example = write_on(run, smollm2, its_tokenizer, run.size(16, 1), new)
    run.say("bpe_gpt, trained on the other plays")
    small, _ = write_on(run, gpt, own_tokenizer, run.size(64, 2), new)
    wide = curses(run)
    run.save_result(
        "dullness",
        {
            "question": "Is probable text good text? (Holtzman et al. 2020, figures 1 and 2; Stahlberg & Byrne 2019)",
            "task": f"passages of Shakespeare's test plays, {PROMPT} tokens as the prompt, {new} more written",
            "probability_is": "geometric mean over tokens of the model's own probability, before any filter",
            "along_is": f"the same in windows of {WINDOW} tokens",
            "improbable_is": "share of tokens with a probability below 0.01",
            "repeated_is": "share of groups of four tokens that stood in the same continuation before",
            "passages": {"SmolLM2": run.size(16, 1), "bpe_gpt": run.size(64, 2)},
            "rows": {"SmolLM2": big, "bpe_gpt": small},
            "example": example,
            "wide_beams": wide,
            "what_it_shows": shown({"SmolLM2": big, "bpe_gpt": small}, wide),
        },
    )


def shown(rows: dict[str, dict[str, Any]], wide: dict[str, Any]) -> str:
    """The two claims, as the figures have them."""
    told = []
    for model, by in rows.items():
        human, beam = by["Shakespeare"], by[f"beam {BEAM}"]
        told.append(
            f"{model}: probability per token of Shakespeare's text {human['probability']:.2f}, of beam search's"
            f" {beam['probability']:.2f}, which repeats {beam['repeated']:.0%} of its groups of four tokens"
            f" (Shakespeare {human['repeated']:.0%})"
        )
    for name, part in wide.items():
        sizes = list(part["beams"])
        first, last = part["beams"][sizes[0]], part["beams"][sizes[-1]]
        told.append(
            f"{name}, beam {sizes[0]} to {sizes[-1]}: ln P {first['log_prob']:.2f} to {last['log_prob']:.2f}, quality"
            f" {first['quality']:.1f} to {last['quality']:.1f}, empty {first['empty']:.0%} to {last['empty']:.0%}"
        )
    return "; ".join(told)
