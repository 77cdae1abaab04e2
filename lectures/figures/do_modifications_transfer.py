"""The picture at the top of the lecture `do_modifications_transfer`: how many rows change each part."""

from lectures.widgets.do_modifications_transfer.rows import ABOUT, network_with_counts


def fifty_one_changes() -> str:
    return network_with_counts([about.parts for about in ABOUT.values() if about.parts])


PICTURES = {"fifty_one_changes": fifty_one_changes}
