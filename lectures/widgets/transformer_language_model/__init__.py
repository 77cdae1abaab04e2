"""The widgets of the lecture `transformer_language_model`: what layers add, norms, sizes, depth, the
cache, a live training, runs."""

from lectures.widgets.transformer_language_model.cache import cache_player
from lectures.widgets.transformer_language_model.parts import depth_playground, norm_playground, size_playground
from lectures.widgets.transformer_language_model.pathway import Added, added_player
from lectures.widgets.transformer_language_model.runs import race_explorer, removed_explorer
from lectures.widgets.transformer_language_model.training import Learner, TrainingPlayer, training_player

__all__ = [
    "Added",
    "Learner",
    "TrainingPlayer",
    "added_player",
    "cache_player",
    "depth_playground",
    "norm_playground",
    "race_explorer",
    "removed_explorer",
    "size_playground",
    "training_player",
]
