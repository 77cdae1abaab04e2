"""A corpus from a file of your own: Tiny Shakespeare, WikiText-2, Tatoeba, ... Nothing is ever fetched."""

from pathlib import Path

from nlmcore.corpora.corpus import BY_HASH, Corpus, Document, split_by_hash


def from_file(path: str | Path, *, pairs: bool = False, licence: str = "not stated") -> Corpus:
    """Read a UTF-8 text file, split 90 : 5 : 5 in the order of the text, at ends of lines.

    With `pairs`, each line is a pair, source and target with a tab between (Tatoeba's third column is ignored);
    targets of the same source are alternatives of one another, and the split is by a hash of the source.
    """
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"path must be a UTF-8 text file, got {path} ({error})") from error
    if not text.strip():
        raise ValueError(f"path must be a file that holds some text, got {path}, which holds none")
    if pairs:
        splits, rule = (
            split_by_hash(_pairs(path, text), lambda document: document.text),
            BY_HASH.format(key="the source"),
        )
    else:
        splits, rule = _in_order(path, text), "in the order of the text, at ends of lines: 90, 5 and 5 in a hundred"
    return Corpus(
        name=path.stem, about=f"the file {path.name}", licence=licence, source=path.name, split_rule=rule, splits=splits
    )


def _in_order(path: Path, text: str) -> dict[str, tuple[Document, ...]]:
    lines = text.splitlines(keepends=True)
    bounds = {"train": (0, 0.9), "valid": (0.9, 0.95), "test": (0.95, 1)}
    splits: dict[str, list[str]] = {split: [] for split in bounds}
    read = 0
    for line in lines:
        share = read / len(text)
        splits[next(split for split, (low, high) in bounds.items() if low <= share < high)].append(line)
        read += len(line)
    return {
        split: (Document(text="".join(members), title=path.stem),) if members else ()
        for split, members in splits.items()
    }


def _pairs(path: Path, text: str) -> list[Document]:
    targets: dict[str, list[str]] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if line:
            columns = line.split("\t")
            if len(columns) < 2:
                raise ValueError(
                    f"path must hold pairs with a tab between, but line {number} of {path} has no tab: {line:.60}"
                )
            targets.setdefault(columns[0], []).append(columns[1])
    return [Document(text=source, target=first, alternatives=tuple(rest)) for source, (first, *rest) in targets.items()]
