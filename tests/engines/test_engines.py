"""Every engine does the same steps with the same results, each once, whatever dies meanwhile."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import chores
import pytest

from unseen.engines import ENGINES, Step, in_order
from unseen.engines.local import Local
from unseen.errors import InputError, UnseenError
from unseen.roles import Engine
from unseen.store.files import temporary_folder
from unseen.store.results import Results

OTHER_PROCESSES = ["local", pytest.param("ray", marks=pytest.mark.slow)]


@pytest.fixture
def engine(request: pytest.FixtureRequest) -> Any:
    if request.param == "ray":
        request.getfixturevalue("cluster")
        return ENGINES.make("ray")
    return ENGINES.make(request.param, **{"workers": 2} if request.param == "local" else {})


def diamond(log: Path) -> Step:
    a = chores.step("a", log)
    b, c = chores.step("b", log, {"of": a}), chores.step("c", log, {"of": a})
    return chores.step("d", log, {"first": b, "second": c})


def names(log: Path) -> list[str]:
    return log.read_text().split()


@pytest.mark.parametrize("engine", ["inline", *OTHER_PROCESSES], indirect=True)
def test_needs_come_first_and_each_step_is_done_once(engine: Engine, tmp_path: Path) -> None:
    last, results, log = diamond(tmp_path / "log"), Results(tmp_path / "results"), tmp_path / "log"
    for _ in range(2):
        outcomes = list(engine.run(in_order([last]), results, {}))
        assert not any(outcome.error for outcome in outcomes)
    assert not outcomes
    assert (results.folder(last.key) / "note.txt").read_text() == "d(b(a()),c(a()))"
    assert sorted(names(log)) == ["a", "b", "c", "d"]
    assert names(log)[0] == "a"
    assert names(log)[-1] == "d"
    record = results.record(last.key)
    assert record["step"] == "d"
    assert record["files"].keys() == {"note.txt"}
    assert record["seconds"] >= 0


def test_one_after_the_other_steps_keep_their_order(tmp_path: Path) -> None:
    log = tmp_path / "log"
    first = chores.step("first", log)
    steps = [first, chores.step("of the first", log, {"of": first}), chores.step("later", log)]
    list(ENGINES.make("inline").run(steps, Results(tmp_path / "results"), {}))
    assert log.read_text().splitlines() == ["first", "of the first", "later"]


@pytest.mark.parametrize("engine", ["inline", *OTHER_PROCESSES], indirect=True)
def test_what_is_there_is_used_and_what_is_damaged_is_made_again(engine: Engine, tmp_path: Path) -> None:
    last, results, log = diamond(tmp_path / "log"), Results(tmp_path / "results"), tmp_path / "log"
    list(engine.run(in_order([last]), results, {}))
    (results.folder(last.key) / "note.txt").write_text("")
    list(engine.run(in_order([last]), results, {}))
    assert sorted(names(log)) == ["a", "b", "c", "d", "d"]
    assert (results.folder(last.key) / "note.txt").read_text() == "d(b(a()),c(a()))"


@pytest.mark.parametrize("engine", ["inline", *OTHER_PROCESSES], indirect=True)
def test_a_failure_stops_only_what_needs_it(engine: Engine, tmp_path: Path) -> None:
    log, results = tmp_path / "log", Results(tmp_path / "results")
    bad = chores.step("bad", log, work="refuse")
    after = chores.step("after", log, {"of": chores.step("next", log, {"of": bad})})
    other = chores.step("other", log, {"of": chores.step("first", log)})
    outcomes = {each.step.name: each.error for each in engine.run(in_order([after, other]), results, {})}
    assert outcomes.keys() == {"bad", "first", "other"}
    error = outcomes.pop("bad")
    assert isinstance(error, InputError)
    assert error.fix == "something else"
    assert set(outcomes.values()) == {None}
    assert sorted(names(log)) == ["first", "other"]
    assert not results.has(bad.key)


@pytest.mark.parametrize("engine", ["inline", *OTHER_PROCESSES], indirect=True)
def test_shared_objects_arrive(engine: Engine, tmp_path: Path) -> None:
    results = Results(tmp_path / "results")
    step = Step("total", "chores:total", {}, {}, {"numbers": "some"})
    (outcome,) = engine.run([step], results, {"some": [1, 2, 3], "others": [9]})
    assert outcome.error is None
    assert (results.folder(step.key) / "deep" / "total.txt").read_text() == "6"


@pytest.mark.parametrize("engine", OTHER_PROCESSES, indirect=True)
def test_a_dead_worker_is_replaced_and_its_step_goes_on(engine: Engine, tmp_path: Path) -> None:
    log, results = tmp_path / "log", Results(tmp_path / "results")
    first = chores.step("first", log)
    dying = chores.step("dying", log, {"of": first}, work="die_once")
    last = chores.step("last", log, {"of": dying, "and": chores.step("beside", log, {"of": first})})
    outcomes = list(engine.run(in_order([last]), results, {}))
    assert [each.step.name for each in outcomes if each.error] == []
    assert sorted(names(log)) == ["beside", "dying", "first", "last"]
    assert not results.scratch(dying.key).exists()


def test_a_step_that_always_dies_is_given_up(tmp_path: Path) -> None:
    log, results = tmp_path / "log", Results(tmp_path / "results")
    steps = [chores.step("dying", log, work="die_always"), chores.step("other", log)]
    outcomes = {each.step.name: each.error for each in ENGINES.make("local", workers=2).run(steps, results, {})}
    assert isinstance(outcomes["dying"], UnseenError)
    assert "died 3 times" in str(outcomes["dying"])
    assert outcomes["other"] is None


@pytest.mark.parametrize("engine", OTHER_PROCESSES, indirect=True)
def test_two_run_at_once_with_one_thread_each(engine: Engine, tmp_path: Path) -> None:
    results = Results(tmp_path / "results")
    meeting = [chores.step(name, tmp_path / "log", work="wait_for_two") for name in ("one", "two")]
    outcomes = list(engine.run([*meeting, Step("threads", "chores:threads")], results, {}))
    assert not any(outcome.error for outcome in outcomes)
    found = next(each.step for each in outcomes if each.step.name == "threads")
    assert (results.folder(found.key) / "threads.txt").read_text() == "1"


def test_workers_do_not_outlive_a_run_that_is_killed_nor_do_its_texts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = (
        "import sys; sys.path.insert(0, sys.argv[1]); import chores; from pathlib import Path\n"
        "from unseen.engines import Local; from unseen.store.results import Results\n"
        "place = Path(sys.argv[2]); step = chores.step('long', place / 'pid', work='sleep')\n"
        "list(Local(workers=1).run([step], Results(place / 'results'), {'texts': ['nobody else should read this']}))"
    )
    words = [sys.executable, "-c", program, str(Path(__file__).parent), str(tmp_path)]
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    run = subprocess.Popen(words, start_new_session=True)
    worker = int(_until(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text()))
    assert _texts_left(tmp_path)
    run.kill()
    run.wait()
    _until(lambda: not Path(f"/proc/{worker}").exists())
    assert not _texts_left(tmp_path)
    (tmp_path / "pid").unlink()
    run = subprocess.Popen(words, start_new_session=True)
    _until(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text())
    os.killpg(run.pid, signal.SIGKILL)  # with its workers, so that nobody can tidy up
    run.wait()
    assert _texts_left(tmp_path)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with temporary_folder(), temporary_folder():
        assert len(list(tmp_path.glob("unseen-*"))) == 2  # those in use stay
    assert not _texts_left(tmp_path)


def _texts_left(place: Path) -> bool:
    return any(b"nobody else" in each.read_bytes() for each in place.glob("unseen-*/*.pickle"))


def _until(true: Callable[[], Any], seconds: float = 60) -> Any:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := true():
            return found
        time.sleep(0.1)
    raise AssertionError("it did not come true")


def test_workers_leave_interrupts_to_their_parent(tmp_path: Path) -> None:
    results, step = Results(tmp_path / "results"), Step("interrupted", "chores:interrupted")
    before = signal.getsignal(signal.SIGINT)
    (outcome,) = Local(1).run([step], results, {})
    assert outcome.error is None
    assert (results.folder(step.key) / "alive.txt").read_text() == "alive"
    assert signal.getsignal(signal.SIGINT) is before


def test_wrong_numbers_of_workers() -> None:
    with pytest.raises(InputError, match="at least 1"):
        ENGINES.make("local", workers=0)
    with pytest.raises(InputError, match="no effect"):
        ENGINES.make("ray", workers=2, address="auto")


def test_keys_say_what_decides_a_result() -> None:
    first = Step("a", "m:f", {"x": 1, "y": [1, 2]})
    same = Step("called otherwise", "m:f", {"y": (1, 2), "x": 1}, uses_gpu=True)
    assert first.key == same.key
    needing = Step("a", "m:f", {"x": 1}, {"of": first})
    others = [
        Step("a", "m:f", {"x": 2, "y": [1, 2]}), Step("a", "m:g", {"x": 1, "y": [1, 2]}),
        Step("a", "m:f", {"x": 1, "y": [1, 2]}, version=2), needing, Step("a", "m:f", {"x": 1}, {"by": first}),
        Step("a", "m:f", {"x": 1}, {"of": Step("a", "m:f", {"x": 3})}),
    ]  # fmt: skip
    assert len({each.key for each in [first, *others]}) == 7
    assert [each.name for each in in_order([needing, first, same])] == ["a", "a"]
