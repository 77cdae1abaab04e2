"""Figures: attention and feed-forward networks in other orders, with as many of each; and seeds of the plain order.

    plain       s f s f … s f                             Vaswani et al. (2017)
    sandwich    s^k (s f)^(n − k) f^k                     Press, Smith & Levy (2020), section 4, with k = 3 n / 8
    random      n s and n f, shuffled                     section 3: 20 orders with one seed each, 5 seeds of the plain one

The best of 20 orders is lucky twice: by its order and by its seed. So here every order has five seeds. The first plays the
paper's search; the others say what an order that was chosen so is worth afterwards. The plain order has 20 seeds.

Departs from the paper: characters instead of words, narrow models, a minute of training instead of days.
"""

from dataclasses import replace
from functools import lru_cache, partial
from random import Random
from statistics import mean

from nlmcore.metrics.significance import rank_correlation
from nlmcore.positions import SinusoidalPositions
from nlmcore.transformer import TransformerConfig, TransformerLM
from nlmcore.variants.sandwich import build_order, order

from lectures.recipes import positions
from lectures.recipes.experiment import Experiment, Setting, differences
from lectures.recipes.run import Run, recipe

DEPTH, WIDTH, TIME, RATE = 6, 32, 48, 4e-3
ORDERS, PLAIN_SEEDS = 20, 20
SETTING = Setting(200, 8, (RATE,), weights="{seed}")
THEIRS = {
    "random": [
        *(20.74, 20.64, 20.33, 20.27, 19.98, 19.92, 19.69, 19.54, 19.08, 18.90),
        *(18.83, 18.77, 18.68, 18.64, 18.61, 18.60, 18.55, 18.38, 18.28, 18.19),
    ],
    "plain": [19.13, 18.83, 18.54, 18.49, 18.25],
}
"""Press et al. (2020): perplexity on WikiText-103, dev; 16 s and 16 f."""


@lru_cache
def random_orders(number: int = ORDERS, depth: int = DEPTH) -> tuple[str, ...]:
    """Different from each other and from the plain order."""
    chance, found = Random(0), dict.fromkeys([order(depth, 0)])
    while len(found) <= number:
        letters = list(order(depth, 0))
        chance.shuffle(letters)
        found["".join(letters)] = None
    return tuple(found)[1:]


def config(vocab_size: int, letters: str) -> TransformerConfig:
    """A language model whose sublayers have this order."""
    sizes = positions.config(vocab_size, WIDTH, TIME, SinusoidalPositions, None)
    return replace(sizes, n_layers=len(letters) // 2, stack=partial(build_order, letters=letters))


@recipe(7)
def cook(run: Run) -> None:
    task = positions.characters(run, TIME)
    plain, sandwich = order(DEPTH, 0), order(DEPTH, (3 * DEPTH + 4) // 8)
    drawn = random_orders(run.size(ORDERS, 2))
    seeds = {plain: PLAIN_SEEDS} | dict.fromkeys((sandwich, *drawn), SETTING.seeds)
    builds = {letters: partial(TransformerLM, config(task.vocab_size, letters)) for letters in seeds}
    rows = Experiment(run, task, SETTING).rows(builds, seeds)
    found: dict[str, list[float]] = {letters: of["dev"] for letters, of in rows.items()}
    random = {letters: found[letters] for letters in drawn}
    best = min(random, key=lambda letters: random[letters][0])
    tests = differences(found[plain], {row: of[1:] for row, of in random.items() if len(of) > 2})
    run.save_result(
        "sublayer_order",
        {
            "question": "Is another order of attention and feed-forward networks better than the plain one?",
            "how": f"nats per character on dev plays, one value per seed; {DEPTH} s and {DEPTH} f, 4 heads, d_model {WIDTH},"
            f" pre-norm, {SETTING.words(task.what)}",
            "plain": plain,
            "sandwich": sandwich,
            "floors": task.floors,
            "losses": found,
            "theirs": THEIRS,
            "first_seed_against_the_others": rank_correlation([(of[0], mean(of[1:])) for of in random.values()]),
            "better_than_plain_on_fresh_seeds": [
                r for r, of in tests.items() if of["difference"] < 0 and of["p"] < 0.05
            ],
            "what_it_shows": f"best of {len(random)} orders with their first seed {random[best][0]:.3f} ({best}), on fresh seeds"
            f" {mean(random[best][1:]):.3f}; plain: best of {len(found[plain])} seeds {min(found[plain]):.3f}, mean"
            f" {mean(found[plain]):.3f}; sandwich {mean(found[sandwich]):.3f}",
        },
    )
