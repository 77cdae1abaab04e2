"""Pictures from arrays: no model is imported here. Every one carries alternative text.

svg         the canvas: shapes, words, colours, small images; drawings beside and below each other
plot        two axes and what is drawn between them: the one plot under all charts
bands       several runs per model: mean and range
charts      lines, bars, shares with their intervals, costs with their laws
planes      points in the plane: decisions, words, many points
tables      matrices: cells with labels, stripes, images
words       text with marks: words and characters on the colour of a number
attention   lines, edges, frames: what is read by whom
touch       parts of a picture that are pressed or dragged move the widget's sliders
head        one head of self-attention, step by step: from x to the weighted sum
networks    recurrent networks as boxes and arrows; circuit: computational graphs
architecture  a Transformer from the tokens to the scores, one tower or two
encoder_decoder  two networks and what joins them: one vector, or attention
music       a piano roll of several voices, and a player of what they sing
figures     charts and heatmaps as figures of matplotlib (`Picture`), which the grader can store
controls    `live`: controls above a picture that follows them: the mechanism of every widget
predict     `predict`: a question whose answer, and what it reveals, unlock once the reader has answered;
            question, its kinds; reveal, what it unlocks

Functions whose name ends in `_svg` or `_html` return text that a browser draws, fast enough to be redrawn at every key
press. What only one lecture's widgets draw is beside them, in `lectures.widgets`.
"""

# ruff: noqa: F403
from lectures.show.architecture import *
from lectures.show.attention import *
from lectures.show.bands import *
from lectures.show.charts import *
from lectures.show.circuit import *
from lectures.show.encoder_decoder import *
from lectures.show.figures import *
from lectures.show.controls import *
from lectures.show.head import *
from lectures.show.music import *
from lectures.show.networks import *
from lectures.show.picture import *
from lectures.show.planes import *
from lectures.show.plot import *
from lectures.show.predict import *
from lectures.show.reveal import *
from lectures.show.svg import *
from lectures.show.tables import *
from lectures.show.words import *
