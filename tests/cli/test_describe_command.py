"""What `unseen analyse` says of words and attributes."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., object]
COLUMNS = "--text text --label label --id id"


@pytest.fixture
def do(unseen, folder):
    """`do("split …")` in a folder with posts and a split of them by source."""

    def run(line, code=0):
        done = unseen(*shlex.split(line))
        assert done.code == code, done.err
        return done

    run(f"split make posts.csv {COLUMNS} --with attribute --by source --values mail -o mail.csv")
    return run


def test_properties_are_printed_in_a_table(do):
    lines = do(f"split describe posts.csv --split mail.csv {COLUMNS} -a source -a user").out.splitlines()
    table = lines[lines.index("") + 1 :]
    assert table[0].split() == ["property", "train", "test", "95", "%", "interval"]
    cells = {line.split()[0]: line.split()[1:] for line in table[1:]}
    assert len({len(line) for line in table[:3]}) == 1
    assert cells["length.words"] == ["7.000", "7.000", "[7.000,", "7.000]"]
    assert re.fullmatch(r"\.\d{3} \[\.\d{3}, \.\d{3}\]", " ".join(cells["unigram_overlap"]))
    assert cells["under_represented.source"] == ["1", "of", "3"]
    assert cells["train_share[source=mail]"] == [".000"]
    assert cells["split_groups.user"] == ["1.000"]
    assert {"rare_words", "class_word_overlap", "class_word_overlap[label=calm]", "shift.source"} <= cells.keys()
    assert not {"rows", "label_share", "train_share[source=app]"} & cells.keys()
    assert any(line.startswith("nearest_train_distance_ratio.cosine: ") for line in lines)


def test_json_has_every_row(do):
    rows = json.loads(do(f"split describe posts.csv --split mail.csv {COLUMNS} -a source --json").out)
    shares = {row["slice"]: row["value"] for row in rows if row["metric"] == "train_share"}
    assert shares == {"source=app": 1.0, "source=mail": 0.0, "source=web": 1.0}
    assert {"rows", "nearest_train_distance.cosine", "unigram_overlap"} <= {row["metric"] for row in rows}


def test_options_choose_what_is_looked_at(do, folder):
    Path("words.txt").write_text("trebuchet\n", encoding="utf-8")
    command = f"split describe posts.csv --split mail.csv {COLUMNS} -a source -a user -a part --json"
    rows = json.loads(do(f"{command} --category part --groups source --neutral calm --english words.txt").out)
    attributes = {row["metric"] for row in rows} & {
        f"{kind}.{name}" for kind in ("shift", "split_groups") for name in ("source", "user", "part")
    }
    assert attributes == {"shift.part", "split_groups.source"}
    assert [row["slice"] for row in rows if row["metric"] == "class_word_overlap"] == ["all", "label=loud"]
    assert {row["tags"]["list"] for row in rows if row["metric"] == "rare_words"} == {"words.txt"}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("--neutral calmm", "did you mean 'calm'"),
        ("-a source --groups sourc", "did you mean 'source'"),
        ("--english none.txt", "cannot read words from none.txt"),
    ],
)
def test_wrong_options_are_explained(do, options, said):
    done = do(f"split describe posts.csv --split mail.csv {COLUMNS} {options}", code=2)
    assert said in done.err
    assert done.out == ""
