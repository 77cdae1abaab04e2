"""Code that exists only for speed: it returns the same results as the readable code that calls it, sooner.

A reader of a model may skip this room. Each module says what it replaces, and what that was measured to gain.
"""

from nlmcore.fast.attention import Rows, fused_attention
from nlmcore.fast.linear import Linear

__all__ = ["Linear", "Rows", "fused_attention"]
