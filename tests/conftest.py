"""Shared fixtures."""

from collections.abc import Iterator

import jaxtyping
import pytest


@pytest.fixture
def plain_errors() -> Iterator[None]:
    """Switch jaxtyping's run-time checks off: what a user sees, who installs the package without them."""
    jaxtyping.config.update("jaxtyping_disable", True)
    try:
        yield
    finally:
        jaxtyping.config.update("jaxtyping_disable", False)
