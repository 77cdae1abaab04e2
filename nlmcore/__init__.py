"""Every model and decoding algorithm of the course, as one small readable library.

One idea carries it: **every language model is the same function**,

    logits, state = model(tokens, state)

(`nlmcore.language_model`), so decoding, perplexity, widgets and experiments are each written once.

`import nlmcore` loads torch and nothing heavier. Submodules load when they are first named, so
`nlmcore.attention.attend` works without a second import.
"""

import importlib
import pkgutil
from types import ModuleType

import torch as torch  # the one heavy import that `import nlmcore` promises

__version__ = "0.1.0"

_SUBMODULES = frozenset(module.name for module in pkgutil.iter_modules(__path__))


def __getattr__(name: str) -> ModuleType:
    if name in _SUBMODULES:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}; it has {sorted(_SUBMODULES)}")


def __dir__() -> list[str]:
    return sorted(_SUBMODULES | {"__version__"})
