"""Published variants of the Transformer: one line each, and a leaf for what is new in it."""

from nlmcore.variants.baseline import DEFAULT_SIZES, share_positions, vanilla
from nlmcore.variants.catalogue import CATALOGUE
from nlmcore.variants.fixup import Fixup, FixupFeedForward, build_fixup, initialise_fixup
from nlmcore.variants.rezero import ReZero, build_rezero
from nlmcore.variants.variant import Catalogue, Times, Variant

__all__ = [
    "CATALOGUE",
    "DEFAULT_SIZES",
    "Catalogue",
    "Fixup",
    "FixupFeedForward",
    "ReZero",
    "Times",
    "Variant",
    "build_fixup",
    "build_rezero",
    "initialise_fixup",
    "share_positions",
    "vanilla",
]
