"""Flags as a record and as a file, packs and rules of one's own, and the report of what rules flag."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binomtest

from tiny_data import build
from unseen.audits.items import Flags, Items, Rule, RuleName, flag_items, rule_findings, rule_report
from unseen.audits.items import read_flags as read
from unseen.audits.items import write_flags as write
from unseen.audits.items.rule import rules_of
from unseen.errors import InputError, MismatchError, UnknownNameError

TEXTS = ["http://a.b", "so it goes", "we like the sea very much", "=1+1 is two, they said"]


def shouting(texts: list[str]) -> list[bool]:
    """Somebody shouts."""
    return [text.isupper() for text in texts]


def too_few(texts: list[str]) -> list[bool]:
    return [True]


def broken(texts: list[str]) -> list[bool]:
    raise KeyError("nothing")


SHORT = Rule("short", "mine", "short", lambda items: np.array(items.words < 3))


def test_packs_share_rules_and_each_votes_once() -> None:
    names = [rule.name for rule in rules_of(["scrape-noise", "label-text", "strapline", "strapline-code"])]
    assert len(names) == len(set(names)) == 22
    assert {rule.pack for rule in rules_of(["label-text"]) if rule.name == "misdecoded"} == {"scrape-noise"}


def test_rules_of_ones_own() -> None:
    data = build(texts=["LOUD", "calm", "LOUD", "x"])
    found = flag_items(data, [f"{__name__}:shouting", f"{__name__}:SHORT"])
    assert found.rules == (
        RuleName("shouting", f"{__name__}:shouting", "Somebody shouts."),
        RuleName("short", "mine", "short"),
    )
    assert found.fired[:, 0].tolist() == [True, False, True, False]
    assert found.votes.tolist() == [2, 1, 2, 1]


@pytest.mark.parametrize(
    ("packs", "said"),
    [
        ([], "no rule pack"),
        (["scrape_noise"], "did you mean 'scrape-noise'"),
        ([f"{__name__}:too_few"], "does not answer like a rule"),
        ([f"{__name__}:broken"], "failed on 4 texts: KeyError"),
        ([f"{__name__}:TEXTS"], "is no rule"),
        (["nowhere.at_all:rule"], "cannot be imported"),
    ],
)
def test_packs_that_are_none(packs: list[str], said: str) -> None:
    with pytest.raises(InputError, match=said):
        flag_items(build(), packs)


def test_two_rules_of_one_name() -> None:
    with pytest.raises(InputError, match="two rules are called 'short'"):
        rules_of([f"{__name__}:SHORT", f"{__name__}:OTHER"])


OTHER = replace(SHORT, fires=lambda items: np.zeros(len(items), bool))


def test_languages_nobody_knows() -> None:
    with pytest.raises(UnknownNameError, match="xx"):
        flag_items(build(), language="xx")


def test_thresholds_count_rules() -> None:
    flags = Flags(
        build().ids, (RuleName("a", "p", ""), RuleName("b", "p", "")), np.array([[1, 1], [1, 0], [0, 0], [0, 1]])
    )
    assert [int(flags.flagged(threshold).sum()) for threshold in (1, 2)] == [3, 1]
    for threshold in (0, 3):
        with pytest.raises(InputError, match="threshold"):
            flags.flagged(threshold)
    with pytest.raises(InputError, match="shape"):
        Flags(build().ids, (), np.zeros((3, 0), bool))


def test_flags_come_back_from_their_file(tmp_path: Path) -> None:
    data = build(["=a", "b", "c", "d"], TEXTS)
    flags = flag_items(data)
    write(flags, tmp_path / "flags.csv", data)
    lines = (tmp_path / "flags.csv").read_text().splitlines()
    assert lines[0] == "id,rule,pack,trait,row"
    assert lines[1] == "'=a,links_only,scrape-noise,nothing but links,"
    assert not any(text in line for text in TEXTS for line in lines)
    turned = data.take(np.array([2, 0, 3, 1]))
    again = read(tmp_path / "flags.csv", turned)
    assert again.rules == flags.rules
    assert again.ids.equals(turned.ids)
    np.testing.assert_array_equal(again.fired, flags.fired[[2, 0, 3, 1]])
    np.testing.assert_array_equal(flags.of(turned).fired, again.fired)
    (tmp_path / "flags.json").unlink()
    alone = read(tmp_path / "flags.csv", data)
    np.testing.assert_array_equal(alone.votes, flags.votes)


def test_flags_of_other_data_are_refused(tmp_path: Path) -> None:
    write(flag_items(build(texts=TEXTS)), tmp_path / "flags.csv")
    with pytest.raises(MismatchError, match="other data"):
        read(tmp_path / "flags.csv", build(texts=[*TEXTS[:3], "another"]))
    with pytest.raises(MismatchError, match="does not fit"):
        read(tmp_path / "flags.csv", build(["x", "y"], TEXTS[:2]))


def test_files_of_others_are_not_overwritten(tmp_path: Path) -> None:
    flags = flag_items(build(texts=TEXTS))
    (tmp_path / "posts.csv").write_text("mine")
    with pytest.raises(InputError, match="does not hold flags"):
        write(flags, tmp_path / "posts.csv")
    (tmp_path / "other.json").write_text("{}")
    with pytest.raises(InputError, match="not a file of unseen's"):
        write(flags, tmp_path / "other.csv")
    with pytest.raises(InputError, match=r"flags\.csv"):
        write(flags, tmp_path / "flags.txt")
    assert (tmp_path / "posts.csv").read_text() == "mine"
    write(flags, tmp_path / "flags.csv")
    write(flags, tmp_path / "flags.csv")


def test_the_report_counts_what_rules_flag() -> None:
    texts = ["so it goes"] * 5 + [f"word{row} and a few others here" for row in range(15)]
    data = build([str(row) for row in range(20)], texts, place=["x"] * 10 + ["y"] * 10)
    flags = flag_items(data)
    rows = rule_report(flags, data, slices=["place"])
    found = {(row.metric, row.slice, row.tags.get("rule"), row.tags.get("other")): row for row in rows}
    short = found["rule_coverage", "all", "too_short", None]
    interval = binomtest(5, 20).proportion_ci(method="wilson")
    assert (short.value, short.n) == (0.25, 20)
    assert (short.low, short.high) == pytest.approx((interval.low, interval.high), abs=1e-6)
    assert found["rule_coverage", "place=x", "too_short", None].value == 0.5
    assert found["rule_coverage", "label=yes", "too_short", None].value == 0.2
    assert found["rule_overlap", "all", "too_short", "exact_duplicate"].value == 1.0
    assert found["rule_alone", "all", "too_short", None].value == 0.0
    shares = {row.tags["threshold"]: row.value for row in rows if row.metric == "flagged_share" and row.slice == "all"}
    assert shares == {each: float((flags.votes >= each).mean()) for each in range(1, int(flags.votes.max()) + 1)}


def test_findings_name_rules_that_do_not_fit() -> None:
    texts = ["one two"] * 20 + [f"word{row} and a few others here" for row in range(10)]
    data = build([str(row) for row in range(30)], texts, labels=["no"] * 20 + ["yes"] * 10)
    found = {each.check: each for each in rule_findings(flag_items(data, language="de"), data)}
    assert found["items.too_short"].level == "warn"
    assert "more than half" in found["items.too_short"].message
    assert len(found["items.too_short"].evidence) == 10
    assert found["items.too_short"].count == 20
    assert found["items.html"].level == "ok"
    assert found["items.ends_open"].level == "skipped"


def test_a_rule_that_takes_out_one_label_is_named() -> None:
    texts = [*(f"so {row}" for row in range(12)), *(f"word{row} and a few others here" for row in range(88))]
    data = build([str(row) for row in range(100)], texts, labels=["yes"] * 20 + ["no"] * 80)
    found = {each.check: each for each in rule_findings(flag_items(data, [f"{__name__}:SHORT"]), data)}
    assert "of 'yes' it flags 60 %" in found["items.short"].message


def test_items_know_their_words() -> None:
    items = Items(build(texts=["It's @ann's so-called 2nd!", "", "http://a.b c", "&amp; cafÃ©"]), np.ones(4, bool))
    assert items.words.tolist() == [4, 0, 1, 1]
    assert items.texts.to_pylist()[3] == "& café"


def test_an_unknown_id_is_counted_once_whatever_flags_it(tmp_path: Path) -> None:
    lines = ["id,rule,pack,trait", "1,html,a,b", "x,html,a,b", "x,empty,a,b", "y,empty,a,b"]
    (tmp_path / "flags.csv").write_text("\n".join(lines))
    with pytest.raises(MismatchError, match="2 flagged ids are not in tiny: x, y"):
        read(tmp_path / "flags.csv", build())
    (tmp_path / "flags.csv").write_text("\n".join(lines[:4]))
    with pytest.raises(MismatchError, match="1 flagged id is not in tiny: x"):
        read(tmp_path / "flags.csv", build())
