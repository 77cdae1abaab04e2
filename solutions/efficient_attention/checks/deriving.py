"""Question 4: what a window and Linformer save, derived on paper."""

from autograder.exercise.declare import question
from autograder.exercise.special import at_points, formula
from solutions.efficient_attention.checks.common import CLOSED

_points = at_points(n=(90, 900), w=(4, 60), p=(0.3, 0.9), k=(8, 64), d=(16, 128), f=(1.5, 8.0))

SAVINGS = question(
    "efficient_attention.savings",
    minutes=20,
    difficulty="medium",
    returns=("scores", "length", "linformer"),
    properties=[
        formula("the scores with a window", 0.75, _points, "scores"),
        formula("the length that saves a fraction", 1.5, _points, "length"),
        formula("the length for Linformer", 0.75, _points, "linformer"),
    ],
    closed=CLOSED,
    mistakes="""
window-always-full: You give every token the whole window. The first tokens of a text have fewer tokens to attend to.
- w * n - w * (w - 1) / 2 → w * n

one-missing-too-many: You subtract too much for the beginning. Token 1 lacks w − 1 scores, and token w lacks none.
- w * (w - 1) / 2 → w * (w + 1) / 2

beginning-forgotten: You count the tokens after the first w only. The first w need a triangle of scores as well.
- w * n - w * (w - 1) / 2 → w * (n - w)

beginning-as-a-square: You give the first w tokens together w² / 2 scores. A triangle with its diagonal has
w (w + 1) / 2.
- w * n - w * (w - 1) / 2 → w * (n - w) + w * w / 2

saved-for-left: The window *saves* the fraction p, so the fraction 1 − p is left. You took p as what is left.
- a = (1 - p) / 2 → a = p / 2; a = min(a, 0.499)

smaller-solution: You took the smaller solution of the quadratic equation. At that length the text is shorter than the
window.
- + math.sqrt( → - math.sqrt(

window-always-full-in-the-equation: Your length is that for a window which is full at the first token already. The first
tokens of a text need fewer scores.
- (w - a + math.sqrt((w - a) ** 2 - 2 * a * w * (w - 1))) / (2 * a) → (w - a) / a

squares-for-triangles: Full attention that writes needs n (n + 1) / 2 scores, not n² / 2: each token attends to itself
as well.
- (w - a + math.sqrt((w - a) ** 2 - 2 * a * w * (w - 1))) / (2 * a)
+ (w + math.sqrt(w**2 - 2 * a * w * (w - 1))) / (2 * a)

whole-square: Your full attention has n² scores. A model that writes has a triangle of them, n (n + 1) / 2.
- length = (w - a + math.sqrt((w - a) ** 2 - 2 * a * w * (w - 1))) / (2 * a)
+ length = (w + math.sqrt(w**2 - 4 * a * w * (w - 1))) / (4 * a)

mixing-forgotten: You left out what the mixing costs. EK and FV need k n d multiplications each.
- 2 * k * f → k * f

one-mixing-forgotten: Three of Linformer's four products are in your formula. Keys *and* values are mixed, then come the
scores and the weighted sums.
- 2 * k * f → 3 * k * f / 2

factor-upside-down: You divide by f. If full attention should need f times as many multiplications, the text must be
longer for a larger f.
- 2 * k * f → 2 * k / f

with-the-width: Your third formula contains d. All four products of Linformer have the factor d, and so have those of
full attention.
- 2 * k * f → 2 * k * f * d

by-the-square: In your third formula f is squared. Full attention grows like n² and Linformer like n, so their ratio
grows like n.
- 2 * k * f → 2 * k * f**2
""",
)
