"""Archives with every trick: nothing outside the folder, nothing without end, and the rest is unpacked all the same."""

import bz2
import gzip
import io
import os
import stat
import struct
import tarfile
import time
import zipfile
import zlib

import pytest

from autograder.preflight import archive
from autograder.preflight.archive import is_archive, unpack
from tests.autograder.courses import zipped

GOOD = {"attention.ipynb": b"{}", "data/points.csv": b"1,2"}


@pytest.fixture
def target(tmp_path):
    made = tmp_path / "outside/target"
    made.mkdir(parents=True)
    return made


def make_zip(path, members):
    return zipped(path, dict(members) | GOOD)


def make_tar(path, members, mode="w:gz"):
    with tarfile.open(path, mode) as made:
        for one, content in [*members, *GOOD.items()]:
            info = one if isinstance(one, tarfile.TarInfo) else tarfile.TarInfo(one)
            info.size = info.size or len(content)
            made.addfile(info, io.BytesIO(content))
    return path


def written(target):
    """Everything below the folder above, so that what came out beside is seen."""
    top = target.parent
    return {p.relative_to(target.parent).as_posix(): p.read_bytes() for p in top.rglob("*") if p.is_file()}


def good(more=()):
    return {f"target/{name}": content for name, content in [*GOOD.items(), *more]}


OUTSIDE = ["../evil", "/tmp/evil", "a/../../evil", "C:\\evil", "..\\evil"]
both = pytest.mark.parametrize("make", [make_zip, make_tar])


@pytest.mark.parametrize("name", [*OUTSIDE, "a/" * 30 + "deep", "x" * 300, "b\x07ell", "."])
@both
def test_a_path_that_leads_out_is_refused(tmp_path, target, make, name):
    found = unpack(make(tmp_path / "a.archive", [(name, b"evil")]), target)
    assert written(target) == good()
    assert [finding.what for finding in found] == ["refused-member"]
    assert found[0].words.isprintable()


def special(name, kind, link=""):
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, link
    return info


def test_links_and_devices_in_a_tar_are_refused(tmp_path, target):
    links = [(tarfile.SYMTYPE, "/etc/passwd"), (tarfile.SYMTYPE, "attention.ipynb"), (tarfile.LNKTYPE, "/etc/passwd")]
    kinds = [*links, *((kind, "") for kind in (tarfile.FIFOTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE))]
    members = [(special(f"{number}", *kind), b"") for number, kind in enumerate(kinds)]
    found = unpack(make_tar(tmp_path / "a.tgz", members), target)
    assert written(target) == good()
    assert [finding.what for finding in found] == ["refused-member"] * len(kinds)


def test_a_file_through_a_link_of_the_same_archive_does_not_leave(tmp_path, target):
    members = [(special("d", tarfile.SYMTYPE, ".."), b""), ("d/evil", b"evil")]
    unpack(make_tar(tmp_path / "a.tar", members, "w"), target)
    assert written(target) == good([("d/evil", b"evil")])


def test_links_and_unusual_members_of_a_zip_are_refused(tmp_path, target):
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as made:
        link = zipfile.ZipInfo("link")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        made.writestr(link, "/etc/passwd")
        made.writestr("packed.csv", "1", zipfile.ZIP_LZMA)
        for name, content in GOOD.items():
            made.writestr(name, content)
    found = unpack(path, target)
    assert written(target) == good()
    assert len(found) == 2


def test_an_encrypted_member_is_said(tmp_path, target):
    path = make_zip(tmp_path / "a.zip", [("secret.csv", b"1")])
    content = bytearray(path.read_bytes())
    content[content.index(b"PK\1\2") + 8] |= 1
    path.write_bytes(content)
    assert "encrypted" in unpack(path, target)[0].words
    assert written(target) == good()


def test_nothing_is_executable(tmp_path, target):
    info = tarfile.TarInfo("run.csv")
    info.mode = 0o4777
    unpack(make_tar(tmp_path / "a.tar", [(info, b"1")], "w"), target)
    assert (target / "run.csv").stat().st_mode & 0o7111 == 0


def test_the_same_name_twice_and_a_file_where_a_folder_should_be(tmp_path, target):
    members = [("x", b"1"), ("x", b"2"), ("x/y", b"3"), ("X/y", b"4")]
    found = unpack(make_tar(tmp_path / "a.tar", members, "w"), target)
    assert written(target) == good([("x", b"1"), ("X/y", b"4")])
    assert len(found) == 2


# --- bombs --------------------------------------------------------------------------------------------------


@pytest.fixture
def small(monkeypatch):
    most = archive.Most(files=5, members=20, bytes=100_000, read=200_000)
    monkeypatch.setattr(archive.unpack, "__defaults__", (most, None))


def size(target):
    return sum(path.stat().st_size for path in target.rglob("*") if path.is_file())


@pytest.mark.usefixtures("small")
@both
@pytest.mark.parametrize("bytes_", [100_001, 3_000_000])
def test_too_many_bytes(tmp_path, target, make, bytes_):
    found = unpack(make(tmp_path / "a", [("small", b"1"), ("large", b"\0" * bytes_)]), target)
    assert written(target) == {"target/small": b"1"}
    assert len(found) == 1


@pytest.mark.usefixtures("small")
@both
def test_too_many_files(tmp_path, target, make):
    assert len(unpack(make(tmp_path / "a", [(f"{number}", b"1") for number in range(50)]), target)) == 1
    assert len(written(target)) == 5


@both
def test_several_archives_share_one_limit(tmp_path, target, make):
    """Each alone keeps it; what was written and thrown away is spent, so nothing is unpacked over and over again."""

    def six(name, members, left):
        (target / name).mkdir()
        for number in range(6):
            inside = target / name / str(number)
            inside.mkdir()
            unpack(make(tmp_path / f"{name} {number}", members), inside, left=left)

    six("large", [("zeros", b"\0" * 100_000)], archive.Left(archive.Most(files=5, bytes=250_000, read=400_000)))
    assert 200_000 < size(target.parent) <= 250_000
    assert len(written(target)) <= 5
    six("many", [], archive.Left(archive.Most(files=5)))
    assert sum(name.startswith("target/many") for name in written(target)) == 5


@pytest.mark.usefixtures("small")
def test_too_many_links(tmp_path, target):
    links = [(special(f"{number}", tarfile.SYMTYPE, "x"), b"") for number in range(50)]
    found = unpack(make_tar(tmp_path / "a", links), target)
    assert len(found) == 21
    assert written(target) == {}


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("what", [b"x", b"L", b"0", b"2"])
def test_a_tar_that_claims_terabytes(tmp_path, target, what):
    info = tarfile.TarInfo("huge")
    info.type, info.size = what, 2**40
    path = tmp_path / "a.tar.gz"
    with gzip.open(path, "wb") as file:
        file.write(info.tobuf(tarfile.GNU_FORMAT) + b"\0" * 10_000_000)
    start = time.process_time()
    found = unpack(path, target)
    assert len(found) == 1
    assert size(target.parent) == 0
    assert time.process_time() - start < 2


@pytest.mark.usefixtures("small")
def test_a_zip_that_lies_about_its_sizes(tmp_path, target):
    path = make_zip(tmp_path / "a.zip", [("large", b"\0" * 3_000_000)])
    content = bytearray(path.read_bytes())
    for mark, offset in ((b"PK\3\4", 22), (b"PK\1\2", 24)):
        struct.pack_into("<I", content, content.index(mark) + offset, 10)
    path.write_bytes(content)
    found = unpack(path, target)
    assert found
    assert size(target.parent) <= 100_000


def test_a_table_of_contents_without_end_is_not_read(tmp_path, target):
    path = make_zip(tmp_path / "a.zip", [(f"{number}", b"") for number in range(100)])
    found = unpack(path, target, archive.Most(directory=1_000))
    assert [finding.what for finding in found] == ["damaged-archive"]
    assert written(target) == {}


@pytest.mark.parametrize("count", [0, 1, 10, 100, 150, 200, 250])
@both
def test_an_archive_that_breaks_off(tmp_path, target, make, count):
    path = make(tmp_path / "a", [("random.csv", os.urandom(300))])
    path.write_bytes(path.read_bytes()[:count])
    found = unpack(path, target)
    assert "damaged-archive" in [finding.what for finding in found]


def test_compressions(tmp_path, target):
    assert unpack(make_tar(tmp_path / "a.tar.bz2", [], "w:bz2"), target) == []
    assert written(target) == good()
    assert all(map(is_archive, ["A.ZIP", "x.tar.gz", "x.tgz", "x.tar", "x.tar.bz2"]))
    assert not any(map(is_archive, ["x.gz", "x.rar", "zip", "x.tar.xz"]))
    for packed in (zlib.compress(b"x"), bz2.compress(b"x"), gzip.compress(b"x")):
        (tmp_path / "b.tar.gz").write_bytes(packed)
        assert [finding.what for finding in unpack(tmp_path / "b.tar.gz", target)] == ["damaged-archive"]
