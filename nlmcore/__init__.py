"""Every model and decoding algorithm of the course, as one small readable library.

One idea carries it: **every language model is the same function**,

    logits, state = model(tokens, state)

(`nlmcore.language_model`), so decoding, perplexity, widgets and experiments are each written once.

`import nlmcore` loads torch and nothing heavier. Submodules load when they are first named, so
`nlmcore.attention.attend` works without a second import. `complete`, `chat`, `save_model` and `load_model` are those of
`nlmcore.tool`.
"""

import importlib
import pkgutil
from typing import TYPE_CHECKING, Any

import torch as torch  # the one heavy import that `import nlmcore` promises

if TYPE_CHECKING:
    # `as`: a type checker takes a name of a typed package for public only so.
    from nlmcore.tool import chat as chat
    from nlmcore.tool import complete as complete
    from nlmcore.tool import load_model as load_model
    from nlmcore.tool import save_model as save_model

__version__ = "0.1.0"

_SUBMODULES = frozenset(module.name for module in pkgutil.iter_modules(__path__)) - {"__main__"}
_TOOLS = frozenset({"chat", "complete", "load_model", "save_model"})


def __getattr__(name: str) -> Any:
    if name in _TOOLS:
        return getattr(importlib.import_module(f"{__name__}.tool"), name)
    if name in _SUBMODULES:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}; it has {sorted(_SUBMODULES)}")


def __dir__() -> list[str]:
    return sorted(_SUBMODULES | _TOOLS | {"__version__"})
