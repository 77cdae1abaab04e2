"""The widgets of the lecture `training_well`: minibatches, optimisers, rates, depth, losses by step, seeds.

Most take the function that they demonstrate, and `yours`, a student's own; the others show stored or given runs.
"""

from lectures.widgets.training_well.curves import patients, remedies_explorer
from lectures.widgets.training_well.depth import signal_playground
from lectures.widgets.training_well.minibatches import minibatch_cloud
from lectures.widgets.training_well.optimisers import optimiser_race
from lectures.widgets.training_well.rates import schedule_playground, sweep_explorer
from lectures.widgets.training_well.seeds import means_svg, seeds_playground

__all__ = [
    "means_svg",
    "minibatch_cloud",
    "optimiser_race",
    "patients",
    "remedies_explorer",
    "schedule_playground",
    "seeds_playground",
    "signal_playground",
    "sweep_explorer",
]
