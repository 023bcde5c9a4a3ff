"""The cards of a run say what its folder holds and leave visible blanks."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from fake_run import FakeRun
from small_run import data_of, split_of, stress_folder, study_folder

from unseen.errors import InputError, UnseenWarning
from unseen.reports.facts import read_card_facts
from unseen.reports.split_card import write_cards
from unseen.store import read_json, write_findings, write_json, write_measurements, write_split

DAVIDSON = ("hate", "offensive", "neither")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return stress_folder(tmp_path / "run")


def card_of(folder: Path) -> str:
    return write_cards(folder)[0].read_text(encoding="utf-8")


def blanks_of(card: str) -> list[str]:
    return re.findall(r"^\d+\. (.*)$", card.partition("## What a person has still to fill in")[2], re.MULTILINE)


def test_three_files_are_written(folder: Path) -> None:
    assert write_cards(folder) == tuple(folder / name for name in ("card.md", "reforms.md", "croissant.json"))


def test_the_card_says_what_the_data_is_and_how_each_split_was_made(folder: Path) -> None:
    card = card_of(folder)
    checksum = hashlib.sha256((folder / "splits" / "closest.csv").read_bytes()).hexdigest()
    for line in (
        "# Splits of mails", "| rows | 8 |", "| fingerprint | abc |", "| spam | 4 |",
        "| closest | closest | mails | 3 | 1 | 2 | 2 |", f"| sha256 | {checksum} |", "| method | closest.v1 |",
        "| parameters | test\\_size = 0.25 |", "| seed | 42 |", "| representation | tiny-50 |",
        "| whole clusters | 1 test rows (50 %) added one by one; 2 clusters |", "| note | one whole cluster of 2 |",
        "| proof | proven: no choice comes nearer to the class counts asked for |", "| spam | 1 | 1 |",
    ):  # fmt: skip
        assert f"\n{line}\n" in f"\n{card}"


def test_the_card_has_scores_findings_and_limits(folder: Path) -> None:
    card = card_of(folder)
    for line in (
        "| minilm | random | 1 | .80 \\[.70, .90\\] |  | .70 \\[.60, .80\\] |",
        "| minilm | closest | 1 | .50 \\[.40, .60\\] | 30 points \\[25, 35\\] | .70 \\[.60, .80\\] |",
        "| look closer | x | Look. | Do. |\n| in order | learnt\\[closest\\] | The task was learnt. |  |",
        "hard for the model whose latent space chose it (tiny-50)",
        "- closest: 50 % of the test part was added row by row, so it is less a region than a selection.",
        "- closest: about 50 % of the test labels are wrong, 10 % in random test parts, so a part of a fall is",
    ):
        assert line in card


def test_blanks_are_listed_counted_and_seen_in_place(folder: Path) -> None:
    card = card_of(folder)
    blanks = blanks_of(card)
    assert f"**{len(blanks)} things are not stated**" in card
    assert {"licence of the data mails", "source of the data mails", "intended use"} <= {*blanks}
    assert "| licence of the texts | **not stated** |" in card
    assert blanks[-1] == "GenBench motivation of closest: practical is assumed, confirm or change it"


def test_a_known_dataset_has_the_licence_and_source_of_the_catalogue(tmp_path: Path) -> None:
    known = data_of("davidson", labels=DAVIDSON)
    card = card_of(stress_folder(tmp_path / "known", data=known))
    assert "| licence of the texts | MIT |" in card
    assert "| source | https&#58;//github.com/t-davidson/" in card
    assert "licence of the data davidson" not in blanks_of(card)


def test_other_labels_are_another_dataset_whatever_its_name(tmp_path: Path) -> None:
    card = card_of(stress_folder(tmp_path / "other", data=data_of("davidson")))
    assert "licence of the data davidson" in blanks_of(card)
    assert "MIT" not in card


def test_a_licence_that_the_catalogue_does_not_know_stays_blank(tmp_path: Path) -> None:
    known = data_of("waseem-hovy", labels=("sexism", "racism", "none"))
    facts = read_card_facts(stress_folder(tmp_path / "run", data=known)).datasets[""]
    assert facts.known is not None
    assert facts.licence == ""


def test_the_code_for_loading_runs(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tables, predefined, _ = re.findall(r"```python\n(.*?)```", card_of(folder), re.DOTALL)
    monkeypatch.chdir(folder)
    (folder / "parts").mkdir()
    np.save("parts/train.npy", [2, 3, 4])
    np.save("parts/test.npy", [0, 1])
    found: dict[str, object] = {}
    exec(tables, found)
    assert list(found["test_ids"]) == ["007", "'-b"]  # type: ignore[call-overload]
    exec(predefined, found)
    ((train, test),) = found["cv"].split()  # type: ignore[attr-defined]
    rows = np.asarray(found["rows"])
    assert (rows[train].tolist(), rows[test].tolist()) == ([2, 3, 4], [0, 1])


def test_names_of_files_are_not_escaped_in_code_and_odd_ones_stay_out_of_it(tmp_path: Path) -> None:
    for stem, shown in (("my_split", "my_split.csv"), ('x"; rm', "NAME.csv")):
        folder = stress_folder(tmp_path / shown, splits={stem: "closest"})
        write_split(split_of(stem, "closest.v1"), folder / "splits" / f"{stem}.csv")
        assert f'pd.read_csv("splits/{shown}", dtype' in card_of(folder)


def test_without_measurements_and_findings_the_card_says_so(folder: Path) -> None:
    write_measurements([], folder / "measurements.csv")
    write_findings([], folder / "findings.csv")
    card = card_of(folder)
    assert "Nothing was measured on these splits." in card
    assert "No checks were run on these splits." in card
    assert "Whether labels explain a fall is not known: closest." in card


def test_the_same_folder_gives_the_same_bytes(folder: Path) -> None:
    first = [path.read_bytes() for path in write_cards(folder)]
    assert [path.read_bytes() for path in write_cards(folder)] == first


def test_splits_that_the_run_does_not_name_are_left_out(folder: Path) -> None:
    write_split(split_of("earlier", "random.v1"), folder / "splits" / "earlier.csv")
    assert "earlier" not in card_of(folder)
    about = read_json(folder / "run.json")
    del about["splits"]
    write_json(folder / "run.json", about)
    assert "| earlier | random |" in card_of(folder)


def test_a_study_has_cards_too(tmp_path: Path) -> None:
    card = card_of(study_folder(tmp_path / "study"))
    for line in (
        "# Splits of mails, posts", "### mails\n", "### posts\n", "| posts.full.closest.1 | closest | posts |",
        "| mails, logistic | closest | 0 | .60 \\[.50, .70\\] | 30 points |",
        "| posts, logistic | closest | 0 | .20 \\[.10, .30\\] | 20 points |", "No checks were run",
        "| shift locus | train–test |",
    ):  # fmt: skip
        assert line in card
    assert {"licence of the data mails", "licence of the data posts"} <= {*blanks_of(card)}


def test_scores_of_a_study_go_by_the_dataset_of_their_split(tmp_path: Path) -> None:
    folder = study_folder(tmp_path / "study")
    lines = ["metric,value,low,high,n,slice,split,family,part,seed"]
    lines += [
        f"f1.macro,{value},,,2,all,{name}.full.random.1,random,test,1"
        for name, value in (("mails", 0.9), ("posts", 0.4))
    ]
    (folder / "measurements.csv").write_text("\n".join(lines) + "\n")
    card = card_of(folder)
    assert "| mails | random | 1 | .90 |" in card
    assert "| posts | random | 1 | .40 |" in card


def damaged(name: str, content: str) -> Callable[[Path], object]:
    return lambda folder: (folder / name).write_text(content)


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda folder: (folder / "run.json").unlink(), "run.json is missing"),
        (damaged("run.json", "{"), "run.json is not valid JSON"),
        (damaged("run.json", "{}"), "run.json does not say its data"),
        (damaged("run.json", '{"data": {"name": "x"}}'), "does not say the labels of 'x'"),
        (damaged("run.json", '{"data": {}, "settings": 1}'), "does not say its settings"),
        (damaged("measurements.csv", "a,b\n"), "does not hold measurements"),
        (damaged("findings.csv", "a,b\n"), "does not hold findings"),
        (lambda folder: (folder / "splits" / "closest.csv").unlink(), "there is no split"),
        (lambda folder: (folder / "splits" / "closest.json").unlink(), "no certificate beside it"),
        (damaged("splits/closest.csv", "id,part,cluster\n007,train,\n"), "was changed after it was written"),
        (damaged("splits/closest.json", "{}"), "is not the certificate of a split"),
        (lambda folder: write_split(split_of("closest", "closest.v1", "zzz"), folder / "splits" / "closest.csv"),
         "was made from other data: zzz, run.json has abc"),
    ],
)  # fmt: skip
def test_what_is_missing_or_damaged_is_said(folder: Path, damage: Callable[[Path], object], said: str) -> None:
    damage(folder)
    with pytest.raises(InputError, match=re.escape(said)):
        write_cards(folder)
    assert not (folder / "card.md").exists()


def test_every_damage_is_said_at_once(folder: Path) -> None:
    for name in ("measurements.csv", "findings.csv", "splits/closest.json", "splits/random-1.csv"):
        (folder / name).write_text("no")
    with pytest.raises(InputError) as caught:
        write_cards(folder)
    assert len(caught.value.problems) == 4


def test_odd_parts_of_a_certificate_are_refused(folder: Path) -> None:
    path = folder / "splits" / "closest.json"
    about = read_json(path)
    about["origin"]["params"] = ["a"]
    write_json(path, about)
    with pytest.raises(InputError, match="damaged"):
        write_cards(folder)


def test_no_folder(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no run folder"):
        write_cards(tmp_path / "nowhere")


def test_a_folder_of_the_real_size_is_read(tmp_path: Path) -> None:
    card = card_of(FakeRun(rows=300).write(tmp_path / "run"))
    assert "| minilm | closest | 3 | .27 \\[.25, .29\\] | 39 points \\[36, 42\\] |" in card
    assert "subset-sum: the test part misses the class counts that were asked for by 3 rows." in card


def test_neither_ids_nor_words_of_texts_are_in_the_cards(tmp_path: Path) -> None:
    written = write_cards(FakeRun(rows=300, texts=True).write(tmp_path / "run"))
    said = " ".join(path.read_text(encoding="utf-8") for path in written)
    assert "t00000" not in said
    assert "parcel" not in said


def test_what_a_person_wrote_stays(folder: Path) -> None:
    write_cards(folder)
    (folder / "card.md").write_text("filled in by hand")
    with pytest.warns(UnseenWarning, match="changed by hand"):
        write_cards(folder)
    assert (folder / "card.md").read_text() == "filled in by hand"
    (folder / "card.md").unlink()
    write_cards(folder)
    assert "# Splits of mails" in (folder / "card.md").read_text()
