"""The widgets of the lecture `scale`: budgets, power laws, races, cosines, metrics, and tasks in the prompt."""

from lectures.widgets.scale.budget import budget_playground, count, written
from lectures.widgets.scale.curves import architectures_playground, cosine_playground, ends, steepness
from lectures.widgets.scale.frontier import equal_compute_playground, exponents_svg, race_playground
from lectures.widgets.scale.laws import forecast_playground, law_playground
from lectures.widgets.scale.mirage import metric_playground, seeds_svg
from lectures.widgets.scale.cells import (
    Point,
    affordable,
    at_compute,
    best_size,
    by_size,
    crossing,
    exponent,
    halfway,
    points,
    slope_of_best,
)
from lectures.widgets.scale.prompted import prompt_playground

__all__ = [
    "architectures_playground",
    "budget_playground",
    "cosine_playground",
    "equal_compute_playground",
    "exponents_svg",
    "forecast_playground",
    "law_playground",
    "metric_playground",
    "prompt_playground",
    "race_playground",
    "seeds_svg",
]
