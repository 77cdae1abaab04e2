"""How fast is byte-pair training beside the Hugging Face trainer (Rust)? Prints ratios: above 1.00 is faster.

    python benchmarks/bpe.py                                # a million characters of Shakespeare, one thread
    python benchmarks/bpe.py --characters 200000 --vocab-sizes 500,2000 --repeats 9
    python benchmarks/bpe.py --text my.txt

The peer runs on one thread (ours has only one). Runs are interleaved; times are medians of process time, so a busy
machine slows both alike. Before the times, both lists of merges are compared: they must be equal.
"""

import argparse
import json
import os
import statistics
import time
from pathlib import Path

os.environ["RAYON_NUM_THREADS"] = "1"
os.environ["TOKENIZERS_PARALLELISM"] = "false"

from tokenizers import Tokenizer, models, pre_tokenizers, trainers

from nlmcore.corpora import from_file, load
from nlmcore.tokens import BPETokenizer
from nlmcore.tokens.bytepairs import BYTE_ORDER


def peer(text: str, vocab_size: int) -> Tokenizer:
    """The same training by the peer."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size,
        special_tokens=list(BPETokenizer.special),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator([text], trainer)
    return tokenizer


def merges_of(tokenizer: Tokenizer) -> list[tuple[bytes, bytes]]:
    """The peer's merges as bytes; its alphabet writes byte BYTE_ORDER[n] as its n-th character."""
    byte_of = dict(zip(sorted(pre_tokenizers.ByteLevel.alphabet()), BYTE_ORDER, strict=True))
    pairs = json.loads(tokenizer.to_str())["model"]["merges"]
    return [(bytes(map(byte_of.__getitem__, a)), bytes(map(byte_of.__getitem__, b))) for a, b in pairs]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--text", type=Path, help="a UTF-8 file instead of Shakespeare")
    parser.add_argument("--characters", type=int, default=1_000_000)
    parser.add_argument("--vocab-sizes", default="1000,5000,10000")
    parser.add_argument("--repeats", type=int, default=7)
    arguments = parser.parse_args()
    corpus = from_file(arguments.text) if arguments.text else load("shakespeare")
    text = "".join(document.text for document in corpus.documents)[: arguments.characters]
    print(f"{len(text):,} characters; ratio = time of the peer / ours; encoding is of the same text, nothing cached")
    for vocab_size in map(int, arguments.vocab_sizes.split(",")):
        times: dict[str, list[float]] = {"theirs": [], "ours": [], "they encode": [], "we encode": []}
        for _ in range(arguments.repeats):
            start = time.process_time()
            theirs = peer(text, vocab_size)
            times["theirs"].append(time.process_time() - start)
            start = time.process_time()
            ours = BPETokenizer.train([text], vocab_size)
            times["ours"].append(time.process_time() - start)
            start = time.process_time()
            their_ids = theirs.encode(text).ids
            times["they encode"].append(time.process_time() - start)
            start = time.process_time()
            our_ids = ours.encode(text)
            times["we encode"].append(time.process_time() - start)
        same = "equal" if ours.merges == merges_of(theirs) and our_ids == their_ids else "DIFFERENT"
        median = {name: statistics.median(values) for name, values in times.items()}
        print(
            f"vocabulary {vocab_size:>6,}: training {median['theirs'] / median['ours']:.2f}"
            f" ({median['theirs']:.2f} s / {median['ours']:.2f} s),"
            f" encoding {median['they encode'] / median['we encode']:.2f}; merges and ids {same}"
        )


if __name__ == "__main__":
    main()
