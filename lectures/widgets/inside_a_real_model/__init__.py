"""Widgets: a language model opened up, read, ablated, patched and steered while it runs; and what was measured so.

reading         one sentence in a model, kept layer by layer; the grid and the two-sided bars that all of them draw
interventions   the lens with ranks, shares of heads, patching, steering: a forward pass per key press
measured        stored maps: heads and their names, heads ablated together, causal tracing
"""

# ruff: noqa: F403
from lectures.widgets.inside_a_real_model.interventions import *
from lectures.widgets.inside_a_real_model.measured import *
from lectures.widgets.inside_a_real_model.reading import *
