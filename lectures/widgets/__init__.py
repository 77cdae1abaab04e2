"""Widgets that answer every key press: one module per lecture, over `lectures.show` and `nlmcore`.

A module has the lecture's widgets, and above or below each the picture that only it draws. `living` is one drawn model
for any notebook; what it draws is in `living.js` and `living.css`, also for pages without Python.
"""

# ruff: noqa: F403
from lectures.show.controls import *
from lectures.widgets.architecture import *
from lectures.widgets.assistant import *
from lectures.widgets.attention import *
from lectures.widgets.backpropagation import *
from lectures.widgets.beyond_text import *
from lectures.widgets.cheaper_attention import *
from lectures.widgets.checked_rewards import *
from lectures.widgets.decoding import *
from lectures.widgets.do_modifications_transfer import *
from lectures.widgets.encoder_decoder_transformers import *
from lectures.widgets.features_and_harms import *
from lectures.widgets.gates import *
from lectures.widgets.inside_a_real_model import *
from lectures.widgets.language_models import *
from lectures.widgets.living import *
from lectures.widgets.memory_without_attention import *
from lectures.widgets.positions import *
from lectures.widgets.pretraining import *
from lectures.widgets.recurrent_networks import *
from lectures.widgets.scale import *
from lectures.widgets.self_attention import *
from lectures.widgets.sequence_to_sequence import *
from lectures.widgets.smaller_and_faster import *
from lectures.widgets.tokens_and_vectors import *
from lectures.widgets.training_a_generator import *
from lectures.widgets.training_well import *
from lectures.widgets.transformer_language_model import *
from lectures.widgets.vanishing_gradients import *
from lectures.widgets.what_if import *
from lectures.widgets.windows_and_convolutions import *
