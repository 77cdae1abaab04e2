"""Question 5: half-lives and biases, derived on paper."""

from autograder.exercise.declare import question
from autograder.exercise.special import at_points, formula

_points = at_points(b=(-1.0, 5.0), T=(2, 60))

HALF_LIFE = question(
    "gates.half_life",
    minutes=15,
    difficulty="medium",
    returns=("steps", "bias"),
    properties=[
        formula("the half-life of a bias", 1, _points, "steps"),
        formula("the bias of a half-life", 1, _points, "bias"),
    ],
    numpy=True,
    mistakes="""
negative-half-life: Your half-life is negative. ln ½ and ln σ(b) are both negative, so their quotient is not.
- math.log(2) / math.log(1 + math.exp(-b)) → -math.log(2) / math.log(1 + math.exp(-b))

gate-inverted: You used 1 − σ(b), what is forgotten in a step. σ(b) is what is left.
- math.exp(-b) → math.exp(b)
- -math.log(2 ** (1 / T) - 1) → math.log(2 ** (1 / T) - 1)

time-constant: That is the time after which 1/e is left. Half is left after ln 2 times as long.
- math.log(2) / math.log(1 → 1 / math.log(1

sign-of-the-bias: Your bias has the wrong sign: a long half-life needs a large bias.
- -math.log(2 ** (1 / T) - 1) → math.log(2 ** (1 / T) - 1)

gate-for-bias: Your second result is the gate, 2 to the power −1/T. Which bias gives this gate?
- -math.log(2 ** (1 / T) - 1) → 2 ** (-1 / T)

logarithm-of-the-gate: Your second result is the logarithm of the gate. The inverse of σ is ln(g / (1 − g)).
- -math.log(2 ** (1 / T) - 1) → -math.log(2) / T

logarithm-of-the-time: ln(T − 1) is the bias with which a gate of 1 − 1/T begins (Tallec and Ollivier 2018): then about
1/e is left after T steps, not half.
- -math.log(2 ** (1 / T) - 1) → math.log(T - 1)

steps-from-what-is-lost: You divided one half by what a step loses, 1 − σ(b). That would be right if every step lost
the same amount; it loses the same *part* of what is left.
- math.log(2) / math.log(1 + math.exp(-b)) → 0.5 * (1 + math.exp(b))
""",
)
