"""What a branch has changed is opened in a browser, and always one lecture more."""

import subprocess
from pathlib import Path

import pytest

from tests.lectures.changed import SHORTEST, changed, to_open, topic
from tests.lectures.conftest import LECTURES


def git(root: Path, *words: str) -> None:
    who = ("-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *who, *words], cwd=root, check=True, capture_output=True)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Two lectures, each with a widget of its own, the second's in a folder, and two commits on the default branch."""
    for folder in ("widgets/two", "figures"):
        (tmp_path / "lectures" / folder).mkdir(parents=True)
    for number, name, file in (("01_one", "first", "first.py"), ("02_two", "second", "two/second.py")):
        (tmp_path / "lectures" / f"{number}.py").write_text(f"# figures/{name}.svg\n# %%\nwidgets.{name}(3)\n")
        (tmp_path / "lectures" / "widgets" / file).write_text(f"def {name}(n): ...\n\n\ndef _one(n): ...\n")
    git(tmp_path, "init", "-q", "-b", "main")
    for message in ("begun", "gone on"):
        (tmp_path / "notes").write_text(message)
        git(tmp_path, "add", ".")
        git(tmp_path, "commit", "-qm", message)
    return tmp_path


def stems(root: Path) -> list[str]:
    return [path.stem for path in changed(root, sorted((root / "lectures").glob("*.py")))]


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("lectures/02_two.py", ["02_two"]),
        ("lectures/widgets/first.py", ["01_one"]),
        ("lectures/widgets/two/second.py", ["02_two"]),
        ("lectures/figures/second.svg", ["02_two"]),
        ("lectures/figures/two.py", ["02_two"]),
        ("lectures/README.md", []),
        ("nlmcore/model.py", []),
    ],
)
def test_a_lecture_is_changed_by_its_text_its_pictures_and_its_widgets(root: Path, path: str, found: list[str]) -> None:
    assert stems(root) == []
    (root / path).parent.mkdir(exist_ok=True)
    with (root / path).open("a") as file:
        file.write("\n# changed; widgets.first and widgets.second\n" if path.endswith(".md") else "\n# changed\n")
    assert stems(root) == found, "not committed yet"
    git(root, "add", ".")
    git(root, "commit", "-qm", "changed")
    assert stems(root) == found, "the last commit of the default branch"
    git(root, "commit", "-qm", "nothing", "--allow-empty")
    assert stems(root) == [], "the last commit but one"


def test_all_of_a_branch_counts(root: Path) -> None:
    git(root, "checkout", "-qb", "topic")
    for name in ("01_one", "02_two"):
        (root / "lectures" / f"{name}.py").write_text("# %%\n")
        git(root, "commit", "-qam", name)
    assert stems(root) == ["01_one", "02_two"]


def test_without_git_nothing_has_changed_and_one_is_opened(tmp_path: Path) -> None:
    assert changed(tmp_path, []) == []
    assert SHORTEST in [topic(path) for path in LECTURES]
    for stem in ("01_one", f"02_{SHORTEST}"):
        (tmp_path / f"{stem}.py").write_text("# %%\n")
    assert [path.stem for path in to_open(tmp_path, sorted(tmp_path.glob("*.py")))] == [f"02_{SHORTEST}"]


def test_where_lectures_are_drawn_no_commit_matters(root: Path) -> None:
    with (root / "lectures" / "02_two.py").open("a") as file:
        file.write("# changed\n")
    lectures = sorted((root / "lectures").glob("*.py"))
    assert [path.stem for path in to_open(root, lectures)] == ["02_two"]
    assert to_open(root, lectures, drawn=True) == []
