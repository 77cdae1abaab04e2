"""Names of the United States census of 1990: first names with the sex that bears them, or last names."""

from nlmcore.corpora.corpus import BY_HASH, Corpus, Document, check_option, split_by_hash
from nlmcore.corpora.packages import data_file


def load(kind: str = "first") -> Corpus:
    """`kind="first"`: 5,163 first names labelled "female" or "male"; `kind="last"`: 88,799 last names, no label.

    A first name of both sexes is labelled with the one in which it is the more frequent.
    """
    check_option(kind, "kind", ("first", "last"))
    if kind == "last":
        documents = [Document(text=name.title()) for name in _shares("all.last")]
    else:
        female, male = _shares("female.first"), _shares("male.first")
        documents = [
            Document(text=name.title(), label="female" if female.get(name, 0) >= male.get(name, 0) else "male")
            for name in sorted({*female, *male})
        ]
    return Corpus(
        name="names",
        about="first names in the United States, with the sex that bears them"
        if kind == "first"
        else "last names in the United States",
        licence="public domain (United States Census Bureau, 1990); MIT (the package)",
        source=f"names 0.3.0 on PyPI, files names/dist.*.{kind}",
        split_rule=BY_HASH.format(key="the name"),
        splits=split_by_hash(documents, lambda document: document.text),
    )


def _shares(file: str) -> dict[str, float]:
    """Names in capitals, and how many in a hundred people bear them: "JAMES  3.318  3.318  1"."""
    lines = data_file("names", f"names/dist.{file}").read_text(encoding="utf-8").splitlines()
    return {name: float(share) for name, share, *_ in map(str.split, lines)}
