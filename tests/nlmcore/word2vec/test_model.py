"""Training finds the structure of a text that has some; the same seed gives the same vectors; files come back."""

import itertools

import pytest
import torch

from nlmcore.word2vec import CBOW, SkipGram
from nlmcore.word2vec.sampling import Blocks

TOPICS, WORDS = 4, 7
MODELS = [SkipGram, CBOW]


def seeded(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


@pytest.fixture(scope="module")
def text() -> list[list[str]]:
    """Sentences of one topic each: "2b" is the second word of topic b."""
    topics = torch.randint(0, TOPICS, (900,), generator=seeded(0)).tolist()
    words = torch.randint(0, WORDS, (900, 8), generator=seeded(1)).tolist()
    return [[f"{w}{'abcd'[topic]}" for w in row] for topic, row in zip(topics, words, strict=True)]


VOCABULARY = [f"{w}{t}" for w, t in itertools.product(range(WORDS), "abcd")]


@pytest.mark.parametrize("model_class", MODELS)
@pytest.mark.parametrize("options", [{}, {"batch_size": 60, "block_size": 9, "shared_negatives": 10}])
def test_words_of_one_topic_end_up_together(unchecked: None, model_class, options: dict, text) -> None:
    model = model_class(VOCABULARY, 13, window=3, subsample=0.0, generator=seeded(2))
    losses = model.train(text, 8, progress=False, learning_rate=0.05, generator=seeded(3), **options)
    assert losses[-1] < 0.8 * losses[0]
    assert all(answer[-1] == word[-1] for word in VOCABULARY for answer, _ in model.nearest(word, WORDS - 1))


@pytest.mark.parametrize("model_class", MODELS)
def test_the_same_generator_gives_the_same_vectors(model_class, text) -> None:
    def vectors(seed: int) -> torch.Tensor:
        model = model_class(VOCABULARY, 5, generator=seeded(seed))
        model.train(text[:50], 1, progress=False, generator=seeded(seed + 1))
        return model.vectors

    assert torch.equal(vectors(4), vectors(4))
    assert not torch.equal(vectors(4), vectors(5))


@pytest.mark.parametrize("model_class", MODELS)
def test_a_step_is_gradient_descent_on_the_loss(model_class) -> None:
    """One step on the tables = autograd through the tables, words that occur twice included."""
    model = model_class(6, 3, window=2, **({"corrected": True} if model_class is CBOW else {}))
    model.input, model.output = torch.randn(6, 3, generator=seeded(0)), torch.randn(6, 3, generator=seeded(1))
    tokens = torch.tensor([[0, 0, 1, 2, 1, 3, 0], [5, 4, 4, 1, 0, 0, 0]])
    seen = torch.rand(2, 3, 5, generator=seeded(2)) < 0.6
    seen[:, :, 2] = seen[1, 2] = False  # no word sees itself, and one sees nothing
    blocks, noise = Blocks(tokens, seen), torch.tensor([[4, 4], [0, 5]])
    before = {"input": model.input.clone().requires_grad_(), "output": model.output.clone().requires_grad_()}
    middle, outer = ("input", "output") if model_class is SkipGram else ("output", "input")
    loss = model.loss(
        before[middle][tokens[:, 2:5]], before[outer][tokens], before["output"][noise], blocks.window(), 5
    )
    gradients = dict(zip(before, torch.autograd.grad(loss, list(before.values())), strict=True))
    model._step(blocks, noise, 0.01)
    torch.testing.assert_close(model.input, before["input"].detach() - 0.01 * gradients["input"])
    torch.testing.assert_close(model.output, before["output"].detach() - 0.01 * gradients["output"])


@pytest.mark.parametrize("model_class", MODELS)
def test_a_small_vocabulary_gets_small_batches_and_divergence_is_an_error(model_class, text) -> None:
    """Summed steps of one frequent word overshoot: the default batch avoids it, a forced one is told so."""
    model = model_class(VOCABULARY, 13, window=3, subsample=0.0, generator=seeded(2))
    assert model._batch_size(torch.ones(28), 0.2) < model._batch_size(torch.ones(280), 0.2) <= 1024
    model.train(text, 2, progress=False, learning_rate=0.1, generator=seeded(3))
    assert model.vectors.isfinite().all()
    with pytest.raises(ValueError, match="learning_rate or batch_size must be smaller"):
        model.train(text, 20, progress=False, learning_rate=1.0, batch_size=1024)


def test_words_or_ids() -> None:
    model = SkipGram(["a", "b", "c"], 4, generator=seeded(0))
    assert [w for w, _ in model.nearest("a", 2)] == [model.words[w] for w, _ in _ids(model).nearest(0, 2)]
    assert model.nearest(0, 2) == model.nearest("a", 2)
    numbers = SkipGram(10, 4)
    numbers.train([[1, 2, 3]] * 5, 1, progress=False)
    assert isinstance(numbers.analogy(1, 2, 3)[0][0], int)


def _ids(model: SkipGram) -> SkipGram:
    other = SkipGram(model.vocab_size, model.d_model)
    other.input = model.input
    return other


def test_progress_shows_a_bar_or_nothing(capsys) -> None:
    SkipGram(3, 2).train([[0, 1, 2]], 1, progress=False)
    assert capsys.readouterr().err == ""
    SkipGram(3, 2).train([[0, 1, 2]], 1, progress=True)
    assert "word" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("message", "arguments", "options"),
    [
        ("vocabulary", (0,), {}),
        ("vocabulary", ("abc",), {}),
        ("vocabulary", (["a", "b", "a"],), {}),
        ("vocabulary", (["a", None],), {}),
    ],
)
@pytest.mark.parametrize("model_class", MODELS)
def test_bad_settings_are_named(model_class, message: str, arguments: tuple, options: dict) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        model_class(*arguments, **options)


@pytest.mark.parametrize(
    ("message", "options"),
    [
        (r"learning_rate must lie in \(0, 1\]", {"learning_rate": 0}),
        ("min_learning_rate must be at most", {"learning_rate": 0.01, "min_learning_rate": 0.02}),
        ("sequences must be ids", {"sequences": [[0, 9]]}),
        ("at least one word", {"sequences": []}),
    ],
)
def test_bad_training_is_named(message: str, options: dict) -> None:
    arguments = {"sequences": [[0, 1, 2]], "progress": False, **options}
    with pytest.raises((ValueError, TypeError), match=message):
        SkipGram(5, 4).train(**arguments)


def test_bad_questions_are_named() -> None:
    model = SkipGram(["a", "b", "c", "d"], 4)
    for call, message in [
        (lambda: model.nearest("z"), "word must be in the vocabulary"),
        (lambda: model.analogy("a", "b", "z"), "c must be in the vocabulary"),
        (lambda: model.nearest("a", 9), "k must be"),
        (lambda: SkipGram(3, 4).nearest("a"), "no words were given"),
    ]:
        with pytest.raises(ValueError, match=message):
            call()


def test_nearest_of_a_small_vocabulary_is_all_the_others() -> None:
    assert {word for word, _ in SkipGram(["a", "b", "c"], 4).nearest("a")} == {"b", "c"}
