import pytest

from nlmcore.checks import check_dropout, check_sizes, check_switches


@pytest.mark.parametrize(
    ("size", "error"),
    [(0, ValueError), (-1, ValueError), (1.5, TypeError), ("4", TypeError), (True, TypeError), (None, TypeError)],
)
def test_a_size_is_a_whole_number_of_at_least_one(size: object, error: type[Exception]) -> None:
    check_sizes(d_model=1, layers=7)
    with pytest.raises(error, match="layers must be"):
        check_sizes(d_model=1, layers=size)


@pytest.mark.parametrize(
    ("dropout", "error"),
    [
        (1.0, ValueError),
        (-0.1, ValueError),
        (float("nan"), ValueError),
        ("a", TypeError),
        (None, TypeError),
        (True, TypeError),
    ],
)
def test_a_dropout_is_a_probability_below_one(dropout: object, error: type[Exception]) -> None:
    check_dropout(0)
    check_dropout(0.5)
    with pytest.raises(error, match="dropout must"):
        check_dropout(dropout)


@pytest.mark.parametrize("switch", ["no", None, 0, 1])
def test_a_switch_is_on_or_off(switch: object) -> None:
    check_switches(bias=True, causal=False)
    with pytest.raises(TypeError, match="causal must be True or False, got"):
        check_switches(bias=True, causal=switch)
