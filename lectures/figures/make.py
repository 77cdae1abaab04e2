"""Draw the pictures that lectures show where no kernel runs. Repeat with:

python lectures/figures/make.py
"""

from pathlib import Path

from nlmcore.pretrained import minilm
from nlmcore.show.figures.attention import attention_lines_svg
from nlmcore.show.widgets.explorer import all_attention

HERE = Path(__file__).parent


def it_reads_animal() -> str:
    words, weights = all_attention(
        *minilm(), "The animal did not cross the street because it was too tired."
    )
    return attention_lines_svg(weights[3, 1], words, selected=words.index("it"))


if __name__ == "__main__":
    for name, draw in {"11_it_reads_animal": it_reads_animal}.items():
        path = HERE / f"{name}.svg"
        path.write_text(draw(), encoding="utf-8")
        print(path.name)
