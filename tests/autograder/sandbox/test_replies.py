"""The parser of replies: what is not in the agreed form is refused, whatever it is."""

import contextlib
import json
import os
import time
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from autograder.sandbox import replies
from autograder.sandbox.inside import frames as inside
from autograder.sandbox.inside.frames import SIZES
from autograder.sandbox.job import Interview, Job, Limits, Seed

ASKED = Interview(function="f", arguments=("a", "b"), returns=("y",), calls=((1, 2),))


def row(**changes: Any) -> dict[str, Any]:
    return {"outputs": [{"dtype": "float32", "shape": [2], "start": 0}], "fault": None, "changed": [], **changes}


def tensor(**changes: Any) -> dict[str, Any]:
    return row(outputs=[{"dtype": "float32", "shape": [2], "start": 0, **changes}])


def test_a_good_reply_is_read() -> None:
    (outcome,) = replies.outcomes([row(changed=["b"])], torch.tensor([1.0, 2.0]).numpy().tobytes(), ASKED)
    assert outcome.outputs[0].tolist() == [1.0, 2.0]
    assert outcome.changed == ("b",)
    assert replies.outcomes([row(outputs=[], fault=["K", "w", "l", "f"])], b"", ASKED)[0].fault is not None
    (truths,) = replies.outcomes([tensor(dtype="bool", shape=[3])], bytes([7, 0, 255]), ASKED)
    assert truths.outputs[0].view(torch.uint8).tolist() == [1, 0, 1]


@pytest.mark.parametrize(
    "reply",
    [
        None,
        {},
        [],
        [row(), row()],
        [None],
        [{**row(), "more": 1}],
        [row(outputs=[])],
        [row(outputs=[None])],
        [row(outputs=[{"dtype": "float32", "shape": [2]}])],
        [tensor(dtype="object")],
        [tensor(dtype=["float32"])],
        [tensor(dtype="complex64")],
        [tensor(shape=[3])],
        [tensor(shape=[1])],
        [tensor(shape=[-2])],
        [tensor(shape=[-1, -2])],
        [tensor(shape=[2.0])],
        [tensor(shape=[True, 2])],
        [tensor(shape=[1 << 60, 1 << 60])],
        [tensor(shape=[0, 1 << 62])],
        [tensor(shape=[0, 1 << 30])],
        [row(outputs=[{"dtype": "float32", "shape": [0, *[1 << 24] * 15], "start": 0}])],
        [tensor(shape=[1] * 65 + [2])],
        [tensor(shape="2")],
        [tensor(start=4)],
        [tensor(start=-8)],
        [tensor(start=None)],
        [row(fault=["K", "w", "l", "f"])],
        [row(outputs=[], fault=["K", "w"])],
        [row(outputs=[], fault=[1, 2, 3, 4])],
        [row(outputs=[], fault="broken")],
        [row(changed=["c"])],
        [row(changed=[["a"]])],
        [row(changed=["a", "b", "a"])],
        [row(outputs=[{"dtype": "float32", "shape": [1], "start": 0}] * 100)],
    ],
)
def test_anything_else_is_refused(reply: Any) -> None:
    with pytest.raises(replies.BadReply):
        replies.outcomes(reply, bytes(8), ASKED)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: (
        st.lists(inner)
        | st.dictionaries(
            st.sampled_from(["outputs", "fault", "changed", "dtype", "shape", "start", "output_type", "data"]), inner
        )
    ),
)


@given(JSON, st.binary(max_size=32))
def test_no_reply_breaks_the_parser(reply: Any, body: bytes) -> None:
    for read, more in ((replies.outcomes, (body, ASKED)), (replies.outputs, (100,)), (replies.texts, (3,))):
        with contextlib.suppress(replies.BadReply):
            read(reply, *more)  # type: ignore[operator]


def test_texts_can_be_written_anywhere() -> None:
    assert replies.text("a\ud800b\x00c\x1b[1m\n") == "a?b\N{REPLACEMENT CHARACTER}c\x1b[1m\n"
    assert len(replies.text("x" * 10**6, 100)) == 100
    json.dumps(replies.text("\udfff")).encode()


@pytest.mark.parametrize(
    "output",
    [
        {"output_type": "stream", "name": "other", "text": ""},
        {"output_type": "stream", "name": "stdout", "text": ["x"]},
        {"output_type": "update_display_data", "data": {}},
        {"output_type": "display_data", "data": {"image/png": '"><script>'}},
        {"output_type": "display_data", "data": {"text/plain": 3}},
        {"output_type": "display_data"},
        {"output_type": "error", "ename": "E", "evalue": "v", "traceback": ["x"] * 1000},
        {"output_type": ["stream"]},
        "stream",
    ],
)
def test_outputs_in_another_form_are_refused(output: Any) -> None:
    with pytest.raises(replies.BadReply):
        replies.outputs([output], 1000)


def test_of_an_output_only_known_parts_are_kept() -> None:
    kept, more = {"text/plain": "1", "image/png": "aGk="}, {"text/html": "<b>", "application/javascript": "x"}
    about = {"metadata": {"x": 1}, "execution_count": "3", "transient": {}}
    (made,) = replies.outputs([{"output_type": "execute_result", "data": kept | more, **about}], 1000)
    assert made == {"output_type": "execute_result", "data": kept, "metadata": {}, "execution_count": None}


def test_a_picture_that_is_none_is_refused_at_once() -> None:
    picture = {"output_type": "display_data", "data": {"image/png": " " * 200_000 + "!"}}
    began = time.monotonic()
    with pytest.raises(replies.BadReply):
        replies.outputs([picture], 1 << 18)
    assert time.monotonic() - began < 2


def test_notes_are_one_line_that_no_terminal_obeys() -> None:
    (note,) = replies.notes(["asked for /a\x1b[2J\nb: 26 of 26\x9b\u202e"], 1)
    assert note.isprintable()
    assert note.startswith("asked for /a")


def test_frames_go_both_ways() -> None:
    for send, receive in (
        (lambda d: replies.send(d, {"a": 1}, b"xyz", time.monotonic() + 5), inside.read),
        (lambda d: inside.write(d, {"a": 1}, b"xyz"), lambda d: replies.receive(d, 100, 100, time.monotonic() + 5)),
    ):
        out, into = os.pipe()
        send(into)
        assert receive(out) == ({"a": 1}, b"xyz")
        os.close(out)
        os.close(into)


@pytest.mark.parametrize(
    ("sent", "error"),
    [
        (SIZES.pack(101, 0), replies.TooLarge),
        (SIZES.pack(2, 101), replies.TooLarge),
        (SIZES.pack(2, 1 << 63), replies.TooLarge),
        (SIZES.pack(2, 0) + b"[]", replies.BadReply),
        (SIZES.pack(2, 0) + b"{a", replies.BadReply),
        (SIZES.pack(9, 0) + b'{"a":NaN}', replies.BadReply),
        (SIZES.pack(2, 0) + b"\xff\xfe", replies.BadReply),
        (SIZES.pack(100, 0) + b"[" * 100, replies.BadReply),
        (SIZES.pack(10, 0) + b"{", replies.Closed),
        (b"", replies.Closed),
        (b"\x00" * 7, replies.Closed),
    ],
)
def test_broken_frames(sent: bytes, error: type[Exception]) -> None:
    out, into = os.pipe()
    os.write(into, sent)
    os.close(into)
    with pytest.raises(error):
        replies.receive(out, 100, 100, time.monotonic() + 5)
    os.close(out)


def test_a_frame_that_does_not_end_is_late() -> None:
    out, into = os.pipe()
    os.write(into, SIZES.pack(50, 0))
    with pytest.raises(replies.Late):
        replies.receive(out, 100, 100, time.monotonic() + 0.05)
    os.set_blocking(into, False)
    with pytest.raises(replies.Late):
        replies.send(into, {}, bytes(1 << 20), time.monotonic() + 0.05)
    os.close(out)
    os.close(into)


def test_values_survive_the_way_there() -> None:
    spread = torch.arange(12.0).reshape(3, 4)[:, ::2]
    plain = (1, -2.5, float("inf"), "é", None, True, [1, (2,)])
    value = (*plain, {"k": spread.T, "n": []}, torch.tensor(True), torch.ones(1).expand(3))
    body = replies.Body()
    text = json.dumps(replies.coded(value, body), allow_nan=False)
    back = inside.value(json.loads(text), bytearray(bytes(body)))
    assert back[:7] == plain
    assert back[7]["k"].equal(spread.T)
    assert back[7]["k"].stride() == spread.T.stride()
    assert back[7]["n"] == []
    assert back[8].dtype == torch.bool
    assert back[9].tolist() == [1.0, 1.0, 1.0]
    assert type(inside.value(replies.coded(Seed(3), body), bytearray())).__name__ == "Generator"


@pytest.mark.parametrize("value", [{1, 2}, {1: 2}, object(), torch.ones(1, dtype=torch.complex64), 1j, len])
def test_values_that_cannot_be_sent(value: Any) -> None:
    with pytest.raises(TypeError, match="an argument of a call cannot be"):
        replies.coded(value, replies.Body())


@pytest.mark.parametrize("path", ["/etc/passwd", "../x", "a/../../b", "a//b", "", "a/./b", "x\0"])
def test_files_stay_in_their_folder(path: str) -> None:
    with pytest.raises(ValueError, match="plain relative paths"):
        Job(name="x", cells=(), files={path: b""})


def test_limits_are_positive() -> None:
    with pytest.raises(ValueError, match="the limit wall must be positive, got 0"):
        Limits(wall=0)
