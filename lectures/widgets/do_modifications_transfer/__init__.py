"""The widgets of the lecture `do_modifications_transfer`: the table, what is real in it, chance, scatters, and how the training changes it."""

from lectures.widgets.do_modifications_transfer.columns import Column, Comparison, columns, tested
from lectures.widgets.do_modifications_transfer.luck import luck_playground, noise_playground
from lectures.widgets.do_modifications_transfer.scatter import scatter_playground
from lectures.widgets.do_modifications_transfer.table import table_explorer
from lectures.widgets.do_modifications_transfer.training import checks_svg, lengths_playground
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
    "checks_svg",
    "columns",
    "correction_playground",
    "direction",
    "forest_playground",
    "lengths_playground",
    "luck_playground",
    "noise_playground",
    "p_written",
    "pair_playground",
    "scatter_playground",
    "table_explorer",
    "tested",
]
