"""Figure: what an encoder-decoder costs without attention and with it, O(n + m) against O(nm).

Three models of one width read n tokens and write m (teacher forced): recurrent with the last encoder state alone
(Sutskever et al. 2014), recurrent with attention (Bahdanau et al. 2015; dot scores), and a Transformer of one layer
on each side (Vaswani et al. 2017).

1. Multiply-adds, counted while the models run, on a grid of n and m. They are a polynomial in n and m; its
   coefficients are found by least squares and are whole numbers: which products the counts are made of.

2. Seconds on one thread along n = m, with the exponent of the power law.

Forward, one pair, single precision.
"""

from collections.abc import Callable
from typing import Any

import torch
from nlmcore.seq2seq import Seq2Seq
from nlmcore.transformer import EncoderDecoder, TransformerConfig
from torch import nn

from lectures.recipes.costs import multiply_adds, peak_bytes, power_law, seconds
from lectures.recipes.run import Run, recipe

TERMS: dict[str, Callable[[int, int], int]] = {
    "1": lambda n, m: 1,
    "n": lambda n, m: n,
    "m": lambda n, m: m,
    "n²": lambda n, m: n * n,
    "m²": lambda n, m: m * m,
    "nm": lambda n, m: n * m,
}
"""Of these the number of multiply-adds is made."""

TITLES = {
    "initial": "recurrent, last state only",
    "attention": "recurrent, with attention",
    "transformer": "Transformer",
}


def models(d_model: int, vocab_size: int, n_heads: int, longest: int) -> dict[str, nn.Module]:
    """The three, untrained: what they cost does not depend on what they say."""
    torch.manual_seed(0)
    sizes: Any = {"cell": "gru", "d_embedding": d_model, "d_hidden": d_model}
    config = TransformerConfig(vocab_size=vocab_size, d_model=d_model, n_heads=n_heads, n_layers=1, max_length=longest)
    built = {
        "initial": Seq2Seq(vocab_size, vocab_size, context="initial", **sizes),
        "attention": Seq2Seq(vocab_size, vocab_size, context="attention", score="dot", **sizes),
        "transformer": EncoderDecoder(config),
    }
    return {name: model.eval() for name, model in built.items()}


def translation(model: Any, n: int, m: int) -> Callable[[], Any]:
    """Read n tokens, then score m."""
    source, target = torch.ones(1, n, dtype=torch.long), torch.ones(1, m, dtype=torch.long)
    return lambda: model(target, model.encode(source))


def polynomial(counts: dict[tuple[int, int], int]) -> dict[str, int]:
    """The whole coefficients of TERMS that give these counts. Raises ValueError if there are none."""
    grid = torch.tensor([[term(n, m) for term in TERMS.values()] for n, m in counts], dtype=torch.float64)
    wanted = torch.tensor(list(counts.values()), dtype=torch.float64)
    found = torch.linalg.lstsq(grid, wanted[:, None]).solution[:, 0].round()
    if not torch.equal(grid @ found, wanted):
        raise ValueError(
            f"counts are no polynomial in {', '.join(TERMS)}: off by up to {(grid @ found - wanted).abs().max()}"
        )
    return {name: int(value) for name, value in zip(TERMS, found.tolist(), strict=True) if value}


def written(coefficients: dict[str, int]) -> str:
    """The polynomial as text."""
    return " + ".join(f"{value:,} {name}" if name != "1" else f"{value:,}" for name, value in coefficients.items())


@recipe(2)
def cook(run: Run) -> None:
    d_model, vocab_size, n_heads = run.size(128, 8), 64, 4
    grid = [(n, m) for n in (3, 8, 21, 34) for m in (2, 13, 27)]
    lengths = run.size([64, 91, 128, 181, 256, 362, 512, 724, 1024, 1448, 2048, 2896, 4096], [4, 8, 16, 32])
    start, repeats = run.size(1024, 4), run.size(5, 1)
    built = models(d_model, vocab_size, n_heads, max(lengths[-1], 34))

    counted = {
        name: polynomial({(n, m): multiply_adds(translation(model, n, m)) for n, m in grid})
        for name, model in built.items()
    }
    for name, coefficients in counted.items():
        run.say(f"{TITLES[name]}: {written(coefficients)} multiply-adds")

    time: dict[str, dict[int, float]] = {name: {} for name in built}
    memory: dict[str, dict[int, int]] = {name: {} for name in built}
    for n in lengths:
        here = {name: translation(model, n, n) for name, model in built.items()}
        for name, taken in seconds(here, repeats).items():
            time[name][n] = taken
            memory[name][n] = peak_bytes(here[name])
        run.say(f"n = m = {n}: " + ", ".join(f"{name} {time[name][n]:.4f} s" for name in here))

    def operations(name: str, n: int) -> int:
        return sum(value * TERMS[term](n, n) for term, value in counted[name].items())

    laws = {
        "multiply_adds": {n: power_law(lengths, [operations(n, k) for k in lengths], start) for n in built},
        "time": {n: power_law(lengths, list(time[n].values()), start) for n in built},
    }
    run.save_result(
        "source_and_target",
        {
            "question": "What does an encoder-decoder cost without attention and with it, O(n + m) against O(nm)?",
            "lines": TITLES,
            "sizes": {
                "d_model": d_model,
                "vocab_size": vocab_size,
                "n_heads": n_heads,
                "layers": 1,
                "repeats": repeats,
            },
            "multiply_adds": counted,
            "multiply_adds_are": "coefficients of the polynomial in n and m that gives every count on a grid of"
            f" {len(grid)} pairs (n, m) exactly; a causal mask saves none in this count",
            "written": {name: written(coefficients) for name, coefficients in counted.items()},
            "share_of_the_products_of_two_lengths": {
                name: {
                    str(n): round(
                        sum(v * TERMS[t](n, n) for t, v in coefficients.items() if t in ("n²", "m²", "nm"))
                        / operations(name, n),
                        4,
                    )
                    for n in lengths
                }
                for name, coefficients in counted.items()
            },
            "seconds": {name: {str(n): float(f"{value:.4g}") for n, value in by.items()} for name, by in time.items()},
            "seconds_are": "forward, one pair of n = m tokens, one thread, process clock, the fastest of the repeats",
            "bytes": {name: {str(n): value for n, value in by.items()} for name, by in memory.items()},
            "law": {of: {name: law.rounded() for name, law in by.items()} for of, by in laws.items()},
            "law_is": f"cost = c · n^exponent over n = m ≥ {start}, least squares in logarithms; 95 % interval,"
            " Student's t",
        },
    )
