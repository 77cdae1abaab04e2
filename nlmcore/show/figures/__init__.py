"""Pictures from arrays: no model is imported here. Every one carries alternative text.

Functions whose name ends in `_svg` or `_html` return text that a browser draws: these are fast enough to be
redrawn at every key press. The others return a matplotlib figure (`Picture`).
"""

from nlmcore.show.figures.attention import attention_html, attention_lines_svg
from nlmcore.show.figures.bar_list import bar_list_svg
from nlmcore.show.figures.cache import cache_svg
from nlmcore.show.figures.cell import CIRCUITS, Part, cell_svg
from nlmcore.show.figures.charts import bars, curves
from nlmcore.show.figures.circuit import circuit_step, circuit_svg
from nlmcore.show.figures.cliff import cliff_svg, clipped_svg, grey_png
from nlmcore.show.figures.complex_plane import eigenvalues_svg
from nlmcore.show.figures.convolution import convolution_svg, fired_svg
from nlmcore.show.figures.curve import curve_svg
from nlmcore.show.figures.decision import decision_svg
from nlmcore.show.figures.descent import descent_svg
from nlmcore.show.figures.diagrams import encoder_decoder
from nlmcore.show.figures.edges import Edge, edges_svg, strongest_edges
from nlmcore.show.figures.generating import inputs_svg, losses_svg, parted_svg, schedules_svg
from nlmcore.show.figures.guessing import guessing_svg, intervals_svg
from nlmcore.show.figures.heatmaps import head_grid, heatmap, heatmaps
from nlmcore.show.figures.labels import restored_svg, verdict_svg
from nlmcore.show.figures.laws import Law, laws_svg, stacked_svg
from nlmcore.show.figures.lens import lens_svg
from nlmcore.show.figures.lines import beside, lines_svg, power_of_ten, said
from nlmcore.show.figures.map import map_svg
from nlmcore.show.figures.next_word import next_word_svg
from nlmcore.show.figures.pattern import pattern_svg
from nlmcore.show.figures.picture import Picture
from nlmcore.show.figures.pieces import pieces_html
from nlmcore.show.figures.plane import plane_svg
from nlmcore.show.figures.positions import clocks_svg, distance_panels, table_svg, turned_svg
from nlmcore.show.figures.ranking import ranking_svg
from nlmcore.show.figures.raster import image_svg, tables_svg, vectors_svg
from nlmcore.show.figures.reach import reach_svg
from nlmcore.show.figures.scene import scene_svg
from nlmcore.show.figures.search_tree import search_tree_svg
from nlmcore.show.figures.shares import share_panels_svg
from nlmcore.show.figures.shift import Stage, stages_svg
from nlmcore.show.figures.softmax import softmax_svg
from nlmcore.show.figures.states import states_svg
from nlmcore.show.figures.surprise import marked_words_html, surprise_svg
from nlmcore.show.figures.svg import heatmap_svg
from nlmcore.show.figures.through_time import contributions_svg
from nlmcore.show.figures.translation import translation_svg
from nlmcore.show.figures.unrolled import unrolled_svg
from nlmcore.show.figures.word_map import word_map_svg
from nlmcore.show.figures.words import shaded_text_html, shaded_words_svg

__all__ = [
    "CIRCUITS",
    "Edge",
    "Law",
    "Part",
    "Picture",
    "Stage",
    "attention_html",
    "attention_lines_svg",
    "bar_list_svg",
    "bars",
    "beside",
    "cache_svg",
    "cell_svg",
    "circuit_step",
    "circuit_svg",
    "cliff_svg",
    "clipped_svg",
    "clocks_svg",
    "contributions_svg",
    "convolution_svg",
    "curve_svg",
    "curves",
    "decision_svg",
    "descent_svg",
    "distance_panels",
    "edges_svg",
    "eigenvalues_svg",
    "encoder_decoder",
    "fired_svg",
    "grey_png",
    "guessing_svg",
    "head_grid",
    "heatmap",
    "heatmap_svg",
    "heatmaps",
    "image_svg",
    "inputs_svg",
    "intervals_svg",
    "laws_svg",
    "lens_svg",
    "lines_svg",
    "losses_svg",
    "map_svg",
    "marked_words_html",
    "next_word_svg",
    "parted_svg",
    "pattern_svg",
    "pieces_html",
    "plane_svg",
    "power_of_ten",
    "ranking_svg",
    "reach_svg",
    "restored_svg",
    "said",
    "scene_svg",
    "schedules_svg",
    "search_tree_svg",
    "shaded_text_html",
    "shaded_words_svg",
    "share_panels_svg",
    "softmax_svg",
    "stacked_svg",
    "stages_svg",
    "states_svg",
    "strongest_edges",
    "surprise_svg",
    "table_svg",
    "tables_svg",
    "translation_svg",
    "turned_svg",
    "unrolled_svg",
    "vectors_svg",
    "verdict_svg",
    "word_map_svg",
]
