"""The picture that a link to the site brings along: 1200 × 630 pixels, since previews show no SVG."""

import io

import matplotlib
from matplotlib.figure import Figure

NAME = "card.png"
BEGUN = "The animal didn't cross the street because it was too"


def drawn(title: str, subtitle: str) -> bytes:
    with matplotlib.rc_context({"font.family": "DejaVu Sans"}):
        figure = Figure(figsize=(12, 6.3), dpi=100, facecolor="#0b4f9e")
        figure.text(0.06, 0.7, title, color="white", size=50, weight="bold")
        figure.text(0.06, 0.57, subtitle, color="white", size=29)
        figure.text(0.06, 0.24, BEGUN, color="white", size=24)
        figure.text(0.06, 0.12, "_____ ?", color="#ffb000", size=34, weight="bold")
        file = io.BytesIO()
        figure.savefig(file, format="png", facecolor=figure.get_facecolor(), metadata={"Software": None})
    return file.getvalue()
