"""Pictures from arrays: no model is imported here. Every one carries alternative text.

Functions whose name ends in `_svg` or `_html` return text that a browser draws: these are fast enough to be
redrawn at every key press. The others return a matplotlib figure (`Picture`).
"""

from lectures.show.attention import attention_html, attention_lines_svg
from lectures.show.bar_list import bar_list_svg
from lectures.show.cache import cache_svg
from lectures.show.cell import CIRCUITS, Part, cell_svg
from lectures.show.charts import bars, curves
from lectures.show.circuit import circuit_step, circuit_svg
from lectures.show.cliff import cliff_svg, clipped_svg, grey_png
from lectures.show.complex_plane import eigenvalues_svg
from lectures.show.convolution import convolution_svg, fired_svg
from lectures.show.curve import curve_svg
from lectures.show.decision import decision_svg
from lectures.show.descent import descent_svg
from lectures.show.diagrams import encoder_decoder
from lectures.show.edges import Edge, edges_svg, strongest_edges
from lectures.show.generating import inputs_svg, losses_svg, parted_svg, schedules_svg
from lectures.show.guessing import guessing_svg, intervals_svg
from lectures.show.heatmaps import head_grid, heatmap, heatmaps
from lectures.show.labels import restored_svg, verdict_svg
from lectures.show.laws import Law, laws_svg, stacked_svg
from lectures.show.lens import lens_svg
from lectures.show.lines import beside, lines_svg, power_of_ten, said
from lectures.show.map import map_svg
from lectures.show.next_word import next_word_svg
from lectures.show.pattern import pattern_svg
from lectures.show.picture import Picture
from lectures.show.pieces import pieces_html
from lectures.show.plane import plane_svg
from lectures.show.positions import clocks_svg, distance_panels, table_svg, turned_svg
from lectures.show.ranking import ranking_svg
from lectures.show.raster import image_svg, tables_svg, vectors_svg
from lectures.show.reach import reach_svg
from lectures.show.scene import scene_svg
from lectures.show.search_tree import search_tree_svg
from lectures.show.shares import share_panels_svg
from lectures.show.shift import Stage, stages_svg
from lectures.show.softmax import softmax_svg
from lectures.show.states import states_svg
from lectures.show.surprise import marked_words_html, surprise_svg
from lectures.show.svg import heatmap_svg
from lectures.show.through_time import contributions_svg
from lectures.show.translation import translation_svg
from lectures.show.unrolled import unrolled_svg
from lectures.show.word_map import word_map_svg
from lectures.show.words import shaded_text_html, shaded_words_svg

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
