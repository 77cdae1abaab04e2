"""What `.ci/run` draws is a function of the tree, and a third of what is dear."""

import subprocess
from collections import Counter
from pathlib import Path

from tests.drawn import ONE_IN, chosen, number, of_the_tree

NAMES = [f"tests/test_{n}.py" for n in range(3000)]


def commit(root: Path) -> str:
    """The seed after everything in the folder was committed."""
    who = ("-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false")
    for words in (("add", "."), ("commit", "-qm", "one more", "--allow-empty")):
        subprocess.run(["git", *who, *words], cwd=root, check=True, capture_output=True)
    return of_the_tree(root)


def test_the_tree_decides_and_not_the_commits(tmp_path: Path) -> None:
    assert of_the_tree(tmp_path) == "none"
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    (tmp_path / "a").write_text("one")
    first = commit(tmp_path)
    assert commit(tmp_path) == first
    (tmp_path / "a").write_text("two")
    assert commit(tmp_path) != first
    (tmp_path / "a").write_text("one")
    assert commit(tmp_path) == first


def test_another_tree_draws_another_order_and_other_tests() -> None:
    orders = [sorted(NAMES, key=lambda name: number(seed, name)) for seed in "aba"]
    assert orders[0] == orders[2] != orders[1]
    trees = 10 * ONE_IN
    times = Counter(name for seed in range(trees) for name in NAMES if chosen(str(seed), name))
    assert abs(times.total() / trees / len(NAMES) - 1 / ONE_IN) < 0.02
    assert len(times) > 0.999 * len(NAMES), "so many trees take everything"
