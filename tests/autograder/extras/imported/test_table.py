"""The table of attacks, as the command prints it."""

from autograder.commands.move_in import lines
from autograder.extras.imported.rivals import Row, Table


def test_the_columns_stay_apart_and_a_frequent_cause_is_named() -> None:
    row = Row(name="asserts deleted", how="by hand", there=1 / 3, here=2 / 3, cells=(), words="")
    table = Table(kind="otter", of=1, rows=[row], nothing=(0.0, None), solved=(1.0, 1.0), failing=("q1",))
    said = lines("ps1", table)
    assert "0.333   0.667" in said[2]
    assert any("np.True_" in line for line in said)
