"""The widgets of the lecture `do_modifications_transfer`: the table, what is real in it, chance, scatters and rates."""

from lectures.widgets.do_modifications_transfer.columns import Column, Comparison, columns, tested
from lectures.widgets.do_modifications_transfer.luck import luck_playground, noise_playground
from lectures.widgets.do_modifications_transfer.scatter import by_rate, rates_playground, scatter_playground
from lectures.widgets.do_modifications_transfer.table import table_explorer
from lectures.widgets.do_modifications_transfer.verdicts import (
    correction_playground,
    direction,
    forest_playground,
    p_written,
    pair_playground,
)

__all__ = [
    "Column",
    "Comparison",
    "by_rate",
    "columns",
    "correction_playground",
    "direction",
    "forest_playground",
    "luck_playground",
    "noise_playground",
    "p_written",
    "pair_playground",
    "rates_playground",
    "scatter_playground",
    "table_explorer",
    "tested",
]
