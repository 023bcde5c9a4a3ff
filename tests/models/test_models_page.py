"""What docs/models.md says is true: its examples run."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from unseen.inference import predict
from unseen.models.endpoint import Endpoint

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "models.md").read_text(encoding="utf-8")


def test_the_examples_run_one_after_the_other(tmp_path, monkeypatch):
    pytest.importorskip("skops")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "mine", raising=False)
    blocks = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)
    assert len(blocks) == 4
    names = {}
    for code in blocks:
        exec(compile(code, "models.md", "exec"), names)
    assert names["predict"] is predict
    assert {each.name for each in tmp_path.iterdir()} >= {"logistic-model", "bayes", "model.skops", "mine.py"}


def test_the_options_of_an_endpoint_are_those_it_has():
    table = PAGE.partition("| option | default | meaning |")[2].partition("\n\n")[0]
    said = {
        name for row in re.findall(r"^\| (`.*?`) \|", table, flags=re.MULTILINE) for name in re.findall(r"\w+", row)
    }
    assert said == set(Endpoint.__init__.__kwdefaults__)
    for name, default in re.findall(r"^\| `(\w+)` \| (\d+) \|", table, flags=re.MULTILINE):
        assert Endpoint.__init__.__kwdefaults__[name] == float(default)
