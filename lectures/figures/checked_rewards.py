"""The picture at the top of the lecture `checked_rewards`: answers to two sums, and what a program gives for each."""

from lectures.recipes.sums import is_right
from lectures.show import Canvas
from lectures.show.svg import BLUE, ORANGE, PALE

ANSWERS = (
    ((347, 286), "523"),
    ((347, 286), "7+6=13,4+8+1=13,3+2+1=06;633"),
    ((212, 345), "557"),
    ((212, 345), "2+5=07,1+4+0=06,2+3+0=05;567"),
)


def right_or_wrong() -> str:
    canvas = Canvas("", size=18)
    for x, words in ((20, "the sum"), (150, "what the model writes"), (560, "the program says")):
        canvas.text(x, 26, words, 18, bold=True)
    said = []
    for i, ((a, b), text) in enumerate(ANSWERS):
        y, reward = 46 + 50 * i, is_right((a, b), text)
        canvas.rect(10, y, 720, 40, PALE if reward else "none", BLUE if reward else ORANGE, 2)
        canvas.text(20, y + 26, f"{a}+{b}=", 18, mono=True)
        canvas.text(150, y + 26, text, 18, mono=True)
        canvas.text(560, y + 26, "right: 1" if reward else "wrong: 0", 18)
        said.append(f"{a}+{b}={text}: {'right' if reward else 'wrong'}")
    return canvas.svg("Four answers of a model to two sums. " + "; ".join(said) + ".")


PICTURES = {"right_or_wrong": right_or_wrong}
