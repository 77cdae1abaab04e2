"""The widgets of the lecture `beyond_text`: patches, digits by number, skewing, chorales that sound, captions."""

from lectures.widgets.beyond_text.captions import Shown, caption_explorer
from lectures.widgets.beyond_text.chorales import chorale_losses, chorale_player, distance_explorer
from lectures.widgets.beyond_text.images import digits_explorer, excited_svg, patch_playground
from lectures.widgets.beyond_text.skewing import skew_player

__all__ = [
    "Shown",
    "caption_explorer",
    "chorale_losses",
    "chorale_player",
    "digits_explorer",
    "distance_explorer",
    "excited_svg",
    "patch_playground",
    "skew_player",
]
