"""Widgets that answer at once: controls of ipywidgets over the drawings of `lectures.show`."""

from lectures.widgets.caching import cache_player
from lectures.widgets.circuits import circuit_player, circuit_playground
from lectures.widgets.clipping import cliff_playground, clipping_playground
from lectures.widgets.convolutions import (
    Continued,
    Fired,
    convolution_player,
    filter_explorer,
    neighbour_playground,
    reach_playground,
)
from lectures.widgets.counting import count_playground, length_playground, perplexity_playground
from lectures.widgets.decoding import beam_player, length_penalty_player, sampler_playground, word_by_word
from lectures.widgets.descent import Slope, descent_playground
from lectures.widgets.explorer import attention_explorer
from lectures.widgets.gates import cell_player, gate_playground, unit_explorer
from lectures.widgets.generating import edit_player, loss_player, parting_player, schedule_player
from lectures.widgets.gradients import gradient_playground, jacobian_playground, matrix_powers
from lectures.widgets.guessing import Passage, Player, guessing_game
from lectures.widgets.labelling import restore_player, verdict_player
from lectures.widgets.lens import lens_player
from lectures.show.live import Live, live, slider
from lectures.widgets.neurons import boundary_player, neuron_playground
from lectures.widgets.patterns import Pattern, pattern_playground
from lectures.widgets.playgrounds import (
    mask_playground,
    query_playground,
    softmax_playground,
    width_playground,
)
from lectures.widgets.positions import clock_playground, positions_playground, rotary_playground
from lectures.widgets.reading import state_player, through_time_player
from lectures.widgets.self_attention import edges_playground, shuffle_playground
from lectures.widgets.shifting import Shift, shift_player
from lectures.widgets.source_and_target import Pair, source_and_target_player
from lectures.widgets.tokens import merge_player, window_player
from lectures.widgets.training_curve import TrainingCurve
from lectures.widgets.translating import DecodingStep, decoder_player, pronouncer, translator_playground, vector_map
from lectures.widgets.vectors import analogies, negative_playground, neighbours, word_map
from lectures.widgets.writing import Written, next_words, writer

__all__ = [
    "Continued",
    "DecodingStep",
    "Fired",
    "Live",
    "Pair",
    "Passage",
    "Pattern",
    "Player",
    "Shift",
    "Slope",
    "TrainingCurve",
    "Written",
    "analogies",
    "attention_explorer",
    "beam_player",
    "boundary_player",
    "cache_player",
    "cell_player",
    "circuit_player",
    "circuit_playground",
    "cliff_playground",
    "clipping_playground",
    "clock_playground",
    "convolution_player",
    "count_playground",
    "decoder_player",
    "descent_playground",
    "edges_playground",
    "edit_player",
    "filter_explorer",
    "gate_playground",
    "gradient_playground",
    "guessing_game",
    "jacobian_playground",
    "length_penalty_player",
    "length_playground",
    "lens_player",
    "live",
    "loss_player",
    "mask_playground",
    "matrix_powers",
    "merge_player",
    "negative_playground",
    "neighbour_playground",
    "neighbours",
    "neuron_playground",
    "next_words",
    "parting_player",
    "pattern_playground",
    "perplexity_playground",
    "positions_playground",
    "pronouncer",
    "query_playground",
    "reach_playground",
    "restore_player",
    "rotary_playground",
    "sampler_playground",
    "schedule_player",
    "shift_player",
    "shuffle_playground",
    "slider",
    "softmax_playground",
    "source_and_target_player",
    "state_player",
    "through_time_player",
    "translator_playground",
    "unit_explorer",
    "vector_map",
    "verdict_player",
    "width_playground",
    "window_player",
    "word_by_word",
    "word_map",
    "writer",
]
