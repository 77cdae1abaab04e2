"""Which build of PyTorch pip is about to fetch, read from what it prints."""

from pathlib import Path

import pytest

from autograder.launcher import torch_build
from autograder.launcher.torch_build import is_cuda_download

PLAIN = "Collecting torch==2.13.0\n  Downloading torch-2.13.0-cp311-cp311-manylinux_2_28_x86_64.whl (526.6 MB)\n"


@pytest.mark.parametrize(
    ("output", "cuda"),
    [
        (PLAIN, True),
        (PLAIN.replace("Downloading", "Using cached"), True),
        (PLAIN.replace("(526.6 MB)", "(1.2 GB)"), True),
        (PLAIN.replace("2.13.0-", "2.13.0+cu130-"), True),
        (PLAIN.replace("2.13.0-", "2.13.0%2Bcpu-"), False),
        (PLAIN.replace("(526.6 MB)", "(183.4 MB)"), False),
        ("Processing /wheels/torch-2.13.0+cpu-cp311-cp311-manylinux_2_28_x86_64.whl\n", False),
        ("Collecting torch==2.13.0\n  Downloading torch-2.13.0-cp311-cp311-x.whl.metadata (29 kB)\n", False),
        ("Downloading torchvision-0.28.0-cp311-x.whl (600 MB)\n", False),
        ("", False),
    ],
)
def test_a_cuda_build_is_recognised(output: str, cuda: bool) -> None:
    assert is_cuda_download(output, "linux") is cuda
    assert not is_cuda_download(output, "darwin")
    assert not is_cuda_download(output, "win32")


@pytest.mark.parametrize(
    ("version", "needs", "kind"),
    [
        ("2.13.0+cpu", "", "cpu"),
        ("2.13.0+cu130", "", "cuda"),
        ("2.13.0", "Requires-Dist: nvidia-cudnn-cu13==9\n", "cuda"),
        ("2.13.0", "Requires-Dist: sympy\n", "cpu"),
    ],
)
def test_the_installed_build_is_named(tmp_path: Path, version: str, needs: str, kind: str) -> None:
    assert torch_build.kind(tmp_path) == ""
    info = tmp_path / f"torch-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Name: torch\n{needs}")
    assert torch_build.kind(tmp_path, "linux") == kind
