"""What is here for speed alone: the same numbers as the readable code that calls it, sooner.

A reader of a model may skip this room. Each module says what it replaces, and what that was measured to gain.
"""

from nlmcore.fast.attention import fused_attention
from nlmcore.fast.linear import Linear
from nlmcore.fast.rows import Rows
