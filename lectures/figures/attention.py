"""The picture at the top of the lecture `attention`: one head of MiniLM, reading a sentence."""

from nlmcore.pretrained import minilm
from lectures.show import attention_lines_svg
from lectures.widgets.attention import all_attention


def it_reads_animal() -> str:
    words, weights = all_attention(
        *minilm(), "The animal did not cross the street because it was too tired."
    )
    return attention_lines_svg(weights[3, 1], words, selected=words.index("it"))


PICTURES = {"it_reads_animal": it_reads_animal}
