"""The widgets of the lecture `cheaper_attention`: patterns, ranks of real matrices, costs, caches, hidden cards."""

from lectures.widgets.cheaper_attention.costs import cost_explorer, memory_playground
from lectures.widgets.cheaper_attention.needle import needle_explorer
from lectures.widgets.cheaper_attention.patterns import Pattern, pattern_playground
from lectures.widgets.cheaper_attention.ranks import rank_player

__all__ = ["Pattern", "cost_explorer", "memory_playground", "needle_explorer", "pattern_playground", "rank_player"]
