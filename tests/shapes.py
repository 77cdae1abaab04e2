"""The run-time checks of annotations, switched off for a while."""

from collections.abc import Iterator
from contextlib import contextmanager

import jaxtyping


@contextmanager
def shapes_unchecked() -> Iterator[None]:
    """The package as who installs it has it, and small models four times as fast.

    For what reads again and again what has been read with the checks once.
    """
    before = jaxtyping.config.jaxtyping_disable
    jaxtyping.config.update("jaxtyping_disable", True)
    try:
        yield
    finally:
        jaxtyping.config.update("jaxtyping_disable", before)
