import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from nlmcore.corpora import Document, PairBatches, StreamBatches, pad, passages


def generator(seed: int = 5) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


@given(st.integers(1, 4), st.integers(1, 6), st.integers(0, 40))
def test_streams_go_on_where_they_left_off(batch_size, length, more):
    tokens = torch.arange(100, 100 + batch_size + 1 + more)
    batches = list(StreamBatches(tokens, batch_size, length))
    inputs, targets = (torch.cat(parts, dim=1) for parts in zip(*batches, strict=True))
    per_row = (len(tokens) - 1) // batch_size
    assert inputs.shape == (batch_size, per_row)
    assert torch.equal(inputs.flatten(), tokens[: batch_size * per_row])
    assert torch.equal(targets, inputs + 1)
    assert all(x.shape[1] == length for x, _ in batches[:-1])
    assert 1 <= batches[-1][0].shape[1] <= length
    assert len(batches) == len(StreamBatches(tokens, batch_size, length))


def test_any_batch_of_a_stream_can_be_had_at_once():
    batches = StreamBatches(torch.arange(41), batch_size=3, length=4)
    for i, (inputs, targets) in enumerate(batches):
        assert torch.equal(batches[i][0], inputs)
        assert torch.equal(batches[i - len(batches)][1], targets)
    with pytest.raises(IndexError, match="there are 4 batches, got index 4"):
        batches[4]


sequences = st.lists(st.integers(4, 99), max_size=7)


@given(st.lists(st.tuples(sequences, sequences), min_size=1, max_size=30), st.integers(1, 5), st.integers(1, 3))
def test_every_pair_comes_once_masked_and_padded(pairs, batch_size, pool):
    for draw in (None, generator()):
        batches = list(PairBatches(pairs, batch_size, draw, pool))
        assert len(batches) == len(PairBatches(pairs, batch_size))
        seen = []
        for batch in batches:
            assert batch.tokens.shape == batch.targets.shape == batch.mask.shape
            assert batch.source.shape == batch.source_mask.shape
            assert batch.source_mask.dtype == torch.bool
            for row in range(len(batch.source)):
                source = batch.source[row][batch.source_mask[row]].tolist()
                inputs = batch.tokens[row][batch.mask[row]].tolist()
                targets = batch.targets[row][batch.mask[row]].tolist()
                assert source[-1] == targets[-1] == 2
                assert inputs == [1, *targets[:-1]]
                seen.append((source[:-1], targets[:-1]))
            assert not batch.source[~batch.source_mask].any()
            assert not batch.tokens[~batch.mask].any()
            assert not batch.targets[~batch.mask].any()
        assert sorted(seen) == sorted((list(a), list(b)) for a, b in pairs)


def test_batches_hold_pairs_of_like_length():
    draw = generator()
    lengths = torch.randint(1, 40, (1000,), generator=draw).tolist()
    pairs = [([7] * n, [8] * n) for n in lengths]
    mixed = sum(max(lengths[i : i + 20]) * 20 for i in range(0, 1000, 20)) / sum(lengths)
    for shuffle in (None, draw):
        batches = list(PairBatches(pairs, 20, shuffle))
        waste = sum(b.source.numel() for b in batches) / sum(int(b.source_mask.sum()) for b in batches)
        assert waste < 1.05 < mixed


def test_the_generator_decides_the_order():
    pairs = [([n], [n, n]) for n in range(4, 90)]
    order = [batch.source[:, 0].tolist() for batch in PairBatches(pairs, 3, generator())]
    assert order == [batch.source[:, 0].tolist() for batch in PairBatches(pairs, 3, generator())]
    assert order != [batch.source[:, 0].tolist() for batch in PairBatches(pairs, 3, generator(6))]
    batches = PairBatches(pairs, 3, generator())
    assert order == [batch.source[:, 0].tolist() for batch in batches]
    assert order != [batch.source[:, 0].tolist() for batch in batches]  # the next epoch
    fixed = PairBatches(pairs, 3)
    assert [b.source.tolist() for b in fixed] == [b.source.tolist() for b in fixed]


def test_pad():
    padded, mask = pad([[5], [], [6, 7, 8]])
    assert padded.tolist() == [[5, 0, 0], [0, 0, 0], [6, 7, 8]]
    assert mask.tolist() == [[True, False, False], [False] * 3, [True] * 3]


def test_passages_keep_every_word_and_the_label():
    text = "\n\n".join("word " * n for n in (30, 2, 60, 1, 50, 9, 3))
    cut = passages([Document(text=text, label="comedy", title="T"), Document(text="short")], characters=200)
    assert "\n\n".join(d.text for d in cut[:-1]) == text
    assert all(len(d.text) >= 200 for d in cut[:-1])
    assert {d.label for d in cut[:-1]} == {"comedy"}
    assert cut[-1].text == "short"


def test_bad_input():
    tokens = torch.arange(20)
    with pytest.raises(TypeError, match="tokens"):
        StreamBatches(torch.rand(20), 2, 3)
    for bad in (tokens[None], tokens[:2], tokens[:0]):
        with pytest.raises(ValueError, match="tokens must be one row of at least 3"):
            StreamBatches(bad, 2, 3)
    with pytest.raises(ValueError, match="pairs must hold at least one"):
        PairBatches([], 2)
    for nothing in ([], [[], []]):
        with pytest.raises(ValueError, match="sequences must hold at least one"):
            pad(nothing)


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("sequences", lambda ids: pad([[4], ids])),
        ("tokens", lambda ids: StreamBatches(ids, 1, 1)),
        ("pairs", lambda ids: PairBatches([([4], [5]), (ids, [6])], 2)),
        ("pairs", lambda ids: PairBatches([([4], [5]), ([6], ids)], 2)),
    ],
)
@pytest.mark.parametrize(
    "ids", [[1.5, 2.9], [1, 2.0], [3, -1], ["a", "b"], "abc", [None, 2], 5, None, [[1], [2]], [2, [3]]]
)
def test_ids_are_never_rounded_nor_negative(name, call, ids):
    with pytest.raises((ValueError, TypeError), match=name):
        call(ids)


@pytest.mark.parametrize("pairs", [[5], [[1, 2, 3]], [([1], [2], [3])], 5, None, [([1],)]])
def test_pairs_are_pairs(pairs):
    with pytest.raises((ValueError, TypeError), match="pairs"):
        PairBatches(pairs, 1)


def test_an_empty_side_of_a_pair_is_its_end():
    (batch,) = PairBatches([([], [7]), ([8], [])], 2)
    assert batch.source.tolist() == [[2, 0], [8, 2]]
    assert batch.tokens.tolist() == [[1, 7], [1, 0]]
    assert batch.targets.tolist() == [[7, 2], [2, 0]]


def test_a_text_shorter_than_length_is_one_short_batch():
    ((inputs, targets),) = StreamBatches([1, 2, 3], 1, 9)
    assert (inputs.tolist(), targets.tolist()) == ([[1, 2]], [[2, 3]])
