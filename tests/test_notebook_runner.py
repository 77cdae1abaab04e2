"""A notebook that is run in this process shows what it would show in JupyterLab, and leaves the process as it was."""

import os
import socket
import sys
import warnings
from pathlib import Path

import nbformat
import pytest
import torch

from tests.notebook_runner import LIVE, Ran, run


def ran(folder: Path, *sources: str) -> Ran:
    return run(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in sources]), folder)


def test_what_is_shown_stands_in_its_order(tmp_path: Path) -> None:
    page = ran(tmp_path, "from IPython.display import HTML\nprint('a')\ndisplay(HTML('<b>b</b>'))\nprint('c')\n6 * 7")
    shown = [out.get("text") or out.data.get("text/html") or out.data["text/plain"] for out in page.code[0].outputs]
    assert shown == ["a\n", "<b>b</b>", "c\n", "42"]
    assert page.printed() == ["a\nc\n"]
    assert page.code[0].execution_count == 1


def test_names_last_and_an_error_ends_it(tmp_path: Path) -> None:
    page = ran(tmp_path, "x = 3", "y = x + 1\nopen('left', 'w').close()", "1 / 0", "z = 5")
    assert page.names["y"] == 4
    assert "z" not in page.names
    assert "ZeroDivisionError" in page.errors()[0]
    assert page.code[3].execution_count is None
    assert (tmp_path / "left").exists(), "the working folder is the one that was asked for"


def test_widgets_are_alive_and_their_state_is_kept(tmp_path: Path) -> None:
    page = ran(tmp_path, "import ipywidgets\nipywidgets.HTML('<svg></svg>')")
    assert LIVE in page.code[0].outputs[0].data
    (state,) = page.notebook.metadata["widgets"].values()
    assert "<svg></svg>" in [model["state"].get("value") for model in state["state"].values()]


@pytest.mark.parametrize(
    "source",
    [
        "import urllib.request\nurllib.request.urlopen('http://example.org')",
        "import socket\nsocket.create_connection(('192.0.2.1', 80), timeout=1)",
        "import socket\nsocket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'', ('192.0.2.1', 80))",
    ],
)
def test_no_network_is_reached(tmp_path: Path, source: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        page = ran(tmp_path, source)
    assert page.reached in (["example.org"], ["192.0.2.1"])
    assert "no network" in page.errors()[0]
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        assert not ran(tmp_path, f"import socket\nsocket.create_connection({server.getsockname()}).close()").reached


def test_stderr_is_seen_whoever_writes_to_it(tmp_path: Path) -> None:
    page = ran(tmp_path, "import os, sys\nprint('one', file=sys.stderr)\nos.write(2, b'two');")
    assert page.code[0].outputs[0].name == "stderr"
    assert page.stray == "two"


def test_the_process_is_as_it_was(tmp_path: Path) -> None:
    where, threads, modules = os.getcwd(), torch.get_num_threads(), sys.modules["__main__"]
    ran(tmp_path, "import torch\ntorch.set_num_threads(3)\ntorch.set_default_dtype(torch.float64)\n1 / 0")
    assert (where, threads, modules) == (os.getcwd(), torch.get_num_threads(), sys.modules["__main__"])
    assert torch.get_default_dtype() is torch.float32


@pytest.mark.parametrize(
    ("source", "changed"),
    [
        ("encoder(torch.tensor([[2, 3]]))", ""),
        ("encoder.layers[0].attention.step = lambda x: (x, None)", "layers.0.attention.step"),
        ("encoder.layers[1].register_forward_hook(print);", "layers.1._forward_hooks"),
        ("with torch.no_grad(): encoder.embedding_norm.weight.mul_(1.0);", "embedding_norm.weight"),
        ("encoder.embedding.weight.data += 1", "embedding.weight"),
    ],
)
def test_a_model_that_is_shared_stays_as_it_was(tmp_path: Path, source: str, changed: str) -> None:
    """Whether this notebook loads it or an earlier one did; the next one gets a whole model."""
    for _ in range(2):
        page = ran(tmp_path, "import torch\nfrom nlmcore.pretrained import minilm\nencoder, _ = minilm()", source)
        assert page.changed == ([f"minilm(): {changed}"] if changed else [])
        assert bool(page.errors()) == bool(changed)
