"""The picture at the top of the lecture `training_well`: one network, trained in many ways."""

from lectures import stored
from lectures.widgets.training_well import means_svg
from nlmcore.metrics import mean_interval

RACE = stored("optimisers")


def same_network() -> str:
    rows = {
        f"{name}, rate {rate}": row["test"]
        for name, one in RACE["by"].items()
        if name in ("SGD", "Adam")
        for rate, row in one["rates"].items()
        if None not in row["test"]
    }
    means = {name: mean_interval(values)[0] for name, values in rows.items()}
    order = sorted(means, key=lambda name: means[name])
    alt = (
        f"Test loss of one network after the same {RACE['steps']:,} steps under {len(rows)} settings, five seeds each: from"
        f" {means[order[0]]:.2f} nats per character ({order[0]}) to {means[order[-1]]:.2f} ({order[-1]}). Guessing is"
        f" {RACE['guess']:.2f}."
    )
    kept = {name: rows[name] for name in order}
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
    )  # the numbers would answer what the lecture asks


PICTURES = {"same_network": same_network}
