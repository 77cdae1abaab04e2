"""The widgets of the lecture `what_if`: a Transformer without one of its parts, or with its parts in another arrangement."""

from lectures.widgets.what_if.collapse import collapse_playground, removal_explorer
from lectures.widgets.what_if.mixing import mixing_explorer, mixing_player
from lectures.widgets.what_if.search import last_word_playground, search_playground
from lectures.widgets.what_if.shapes import costs_explorer, deep_explorer

__all__ = [
    "collapse_playground",
    "costs_explorer",
    "deep_explorer",
    "last_word_playground",
    "mixing_explorer",
    "mixing_player",
    "removal_explorer",
    "search_playground",
]
