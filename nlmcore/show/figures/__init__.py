"""Pictures from arrays: no model is imported here. Every one carries alternative text.

Functions whose name ends in `_svg` or `_html` return text that a browser draws: these are fast enough to be
redrawn at every key press. The others return a matplotlib figure (`Picture`).
"""

from nlmcore.show.figures.attention import attention_html, attention_lines_svg
from nlmcore.show.figures.charts import bars, curves
from nlmcore.show.figures.circuit import circuit_svg
from nlmcore.show.figures.curve import curve_svg
from nlmcore.show.figures.diagrams import encoder_decoder
from nlmcore.show.figures.heatmaps import head_grid, heatmap, heatmaps
from nlmcore.show.figures.picture import Picture
from nlmcore.show.figures.plane import plane_svg
from nlmcore.show.figures.softmax import softmax_svg
from nlmcore.show.figures.svg import heatmap_svg

__all__ = [
    "Picture",
    "attention_html",
    "attention_lines_svg",
    "bars",
    "circuit_svg",
    "curve_svg",
    "curves",
    "encoder_decoder",
    "head_grid",
    "heatmap",
    "heatmap_svg",
    "heatmaps",
    "plane_svg",
    "softmax_svg",
]
