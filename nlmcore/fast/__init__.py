"""Code that exists only for speed: it returns the same results as the readable code that calls it, sooner.

Each module says what it replaces, and what that was measured to gain.
"""

from nlmcore.fast.linear import Linear, Rows, fused_attention

__all__ = ["Linear", "Rows", "fused_attention"]
