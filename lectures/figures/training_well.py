"""The picture at the top of the lecture `training_well`: one network, trained in many ways."""

from lectures import stored
from lectures.widgets.training_well import means_svg
from nlmcore.metrics import mean_interval

RACE = stored("optimisers")


def same_network() -> str:
    settings = [
        row["test"]
        for name, one in RACE["by"].items()
        if name in ("SGD", "Adam")
        for row in one["rates"].values()
        if None not in row["test"]
    ]
    settings.sort(key=lambda values: mean_interval(values)[0])
    best, worst = (mean_interval(values)[0] for values in (settings[0], settings[-1]))
    alt = (
        f"Test loss of one network after the same {RACE['steps']:,} steps under {len(settings)} settings, five seeds each:"
        f" from {best:.2f} nats per character to {worst:.2f}. Guessing is {RACE['guess']:.2f}."
    )
    # neither names nor numbers, which would answer what the lecture asks
    kept = {f"setting {number}": values for number, values in enumerate(settings, 1)}
    title = f"test loss after the same {RACE['steps']:,} steps"
    return means_svg(
        kept,
        alt=alt,
        low=2.0,
        high=4.6,
        level=RACE["guess"],
        title=title,
        width=880,
        numbers=False,
    )


PICTURES = {"same_network": same_network}
