"""The viewer over HTTP: who may ask, what is served, and a review."""

from __future__ import annotations

import html
import json
import re
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from starlette.testclient import TestClient

from unseen.errors import InputError
from unseen.store.reviews import read_reviews
from unseen.viewer.opened import marked, opened
from unseen.viewer.server import Viewer, application, serve

Served = Callable[..., tuple[str, Viewer]]


@pytest.fixture
def address(run: Path, served: Served) -> str:
    return served(run, size=10, reviewer="ann")[0].removesuffix("task") + "run/0/"


def test_a_wrong_token_is_refused(address: str) -> None:
    host = address.split("/")[2]
    for path in ("", "wrong/", "wrong/run/0/points.bin"):
        assert httpx.get(f"http://{host}/{path}").status_code == 403


def test_another_host_or_origin_is_refused(address: str) -> None:
    assert httpx.get(address, headers={"Host": "example.org"}).status_code == 403
    assert httpx.get(address, headers={"Origin": "http://example.org"}).status_code == 403
    assert httpx.get(address, headers={"Origin": "null"}).status_code == 403
    assert httpx.get(address).status_code == 200


def test_it_starts_without_what_is_heavy(run: Path) -> None:
    code = (
        "import sys; from unseen.viewer.opened import opened; from unseen.viewer.server import Viewer;"
        f"Viewer(opened([{str(run)!r}])).start;"
        "print(sorted({'scipy.stats', 'sklearn', 'matplotlib', 'torch'} & sys.modules.keys()))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "[]\n"


def test_a_browser_leaves_port_80_out(run: Path) -> None:
    viewer = Viewer(opened([run]))
    for port, status in ((80, 200), (8080, 403)):
        client = TestClient(application(viewer, lambda port=port: port), base_url="http://127.0.0.1")
        assert client.get(viewer.start).status_code == status
        assert client.get(viewer.start, headers={"Origin": "http://127.0.0.1"}).status_code == status


def test_a_port_that_cannot_be_had_is_one_message(run: Path) -> None:
    with socket.socket() as busy:
        busy.bind(("127.0.0.1", 0))
        busy.listen()
        for port in (busy.getsockname()[1], 70_000, -1):
            with pytest.raises(InputError, match=f"port {port} cannot be used"):
                serve(Viewer(opened([run])), port)


def test_nothing_outside_the_run_folder_is_served(address: str, run: Path) -> None:
    (run.parent / "secret.csv").write_text("secret")
    (run / "link.csv").symlink_to(run.parent / "secret.csv")
    places = ["../secret.csv", "..%2fsecret.csv", "%2e%2e/secret.csv", "link.csv", ".steps/lock", ".cards.json",
              str(run.parent / "secret.csv"), "//etc/passwd", "tables"]  # fmt: skip
    for place in places:
        answer = httpx.get(
            httpx.URL(f"{address}files/").copy_with(raw_path=f"{httpx.URL(address).path}files/{place}".encode())
        )
        assert answer.status_code in (400, 403, 404), place
        assert "secret" not in answer.text
    assert httpx.get(f"{address}files/measurements.csv").status_code == 200


def test_every_link_of_a_report_leads_somewhere(address: str) -> None:
    report = f"{address}files/report.html"
    links = re.findall(r'<a href="([^"#]+)"', httpx.get(report).text)
    assert "predictions/" in links
    for link in links:
        assert httpx.get(httpx.URL(report).join(link)).status_code == 200, link
    listed = re.findall(r'href="([^"]+parquet)', httpx.get(f"{address}files/predictions/").text)
    assert listed
    assert httpx.get(f"{address}files/predictions/{listed[0]}").status_code == 200
    assert httpx.get(f"{address}files/").status_code == 404


def test_pages_may_ask_nobody_else(address: str) -> None:
    answer = httpx.get(address)
    page = html.unescape(answer.text)
    assert "connect-src 'self'" in page
    assert "default-src 'none'" in page
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["cache-control"] == "no-store"


def test_texts_are_found_by_their_words(address: str, run: Path) -> None:
    (shown,) = opened([run])
    rows = httpx.get(f"{address}search", params={"q": "RAIN number"}).json()["rows"]
    assert rows
    texts = httpx.get(f"{address}texts", params={"rows": ",".join(map(str, rows))}).json()["texts"]
    assert all("rain" in text and "number" in text for text in texts)
    others = set(range(120)) - set(rows)
    assert not any("rain" in shown.text(row) and "number" in shown.text(row) for row in others)


def test_everything_about_a_text(address: str, run: Path) -> None:
    (shown,) = opened([run])
    part = shown.points.by_name["part in closest"]
    row = int((part.codes == part.names.index("test")).argmax())
    known = httpx.get(f"{address}text", params={"row": row}).json()
    assert known["text"] == shown.text(row)
    assert any(answer["by"] == "closest-seed42" for answer in known["answers"])
    assert all(abs(sum(answer["probabilities"].values()) - 1) < 1e-6 for answer in known["answers"])
    assert len(known["nearest"]) == 3
    for wrong in (-1, 120, "x"):
        assert httpx.get(f"{address}text", params={"row": wrong}).status_code == 400


def test_pairs_show_what_differs(run: Path) -> None:
    (shown,) = opened([run])
    assert shown.pairs
    assert all(pair["alike"] >= 0.8 for pair in shown.pairs)
    assert [bool(pair["across"]) for pair in shown.pairs] == sorted(
        (bool(pair["across"]) for pair in shown.pairs), reverse=True
    )
    assert marked("a b c", "a x c") == (
        [("a ", False), ("b", True), (" c", False)],
        [("a ", False), ("x", True), (" c", False)],
    )


def test_a_review_keeps_every_answer_and_takes_the_last_one_back(address: str, run: Path) -> None:
    first = httpx.get(f"{address}../../task/next").json()
    assert first["done"] == 0
    assert first["size"] == 10
    assert {*first["item"]} == {
        "id",
        "text",
        "question",
        "hidden",
    }  # nothing about the model, nor about why it was drawn
    second = httpx.post(
        f"{address}../../task/answer", json={"id": first["item"]["id"], "answer": "right", "seconds": 2}
    ).json()
    assert second["item"]["id"] != first["item"]["id"]
    other = "calm" if second["item"]["hidden"] == "other loud" else "loud"
    httpx.post(f"{address}../../task/answer", json={"id": second["item"]["id"], "answer": f"other {other}"})
    kept = read_reviews(run / "reviews.jsonl")
    assert [(one.id, one.answer, one.label, one.reviewer) for one in kept] == [
        (first["item"]["id"], "right", None, "ann"),
        (second["item"]["id"], "other", other, "ann"),
    ]
    back = httpx.post(f"{address}../../task/undo", json={}).json()
    assert back["done"] == 1
    assert back["item"]["id"] == second["item"]["id"]
    assert len(read_reviews(run / "reviews.jsonl")) == 1
    assert len((run / "reviews.jsonl").read_text().splitlines()) == 3  # nothing is removed


def test_what_is_no_answer_is_refused_and_nothing_is_kept(address: str, run: Path) -> None:
    item = httpx.get(f"{address}../../task/next").json()["item"]
    wrong = [
        {"id": "nobody", "answer": "right"}, {"id": item["id"], "answer": "perhaps"},
        {"id": item["id"], "answer": item["hidden"]}, {"id": item["id"], "answer": "other x"},
        {"id": ["list"], "answer": "right"}, {"id": item["id"], "answer": ["right"]},
    ]  # fmt: skip
    for content in wrong:
        assert httpx.post(f"{address}../../task/answer", json=content).status_code == 400, content
    for content in (b"{", b"[]", b'{"id": "' + b"x" * 30_000 + b'"}', b"[" * 19_000):
        answer = httpx.post(
            f"{address}../../task/answer", content=content, headers={"Content-Type": "application/json"}
        )
        assert answer.status_code == 400
    form = httpx.post(f"{address}../../task/answer", data={"id": item["id"], "answer": "right"})
    assert form.status_code == 400  # a form of another page cannot answer
    assert not (run / "reviews.jsonl").exists()


def test_reviewers_do_not_see_each_other(run: Path, served: Served) -> None:
    for name in ("ann", "ben"):
        address = served(run, size=5, reviewer=name)[0].removesuffix("task") + "run/0/"
        state = httpx.get(f"{address}../../task/next").json()
        assert state["done"] == 0
        httpx.post(f"{address}../../task/answer", json={"id": state["item"]["id"], "answer": "unclear"})
    lines = [json.loads(line) for line in (run / "reviews.jsonl").read_text().splitlines()]
    assert [line["reviewer"] for line in lines] == ["ann", "ben"]
    assert lines[0]["id"] == lines[1]["id"]  # the same draw for both


def test_several_runs_are_listed_and_compared(run: Path, finished: Callable[[str], Path], served: Served) -> None:
    check = finished("check") / "run"
    address, _ = served(run, check)
    page = httpx.get(address).text
    assert "stress" in page
    assert "check" in page
    assert "Failed cases" in page
    assert "failed cases of the suite cases" in httpx.get(f"{address}run/1/cases").text
    beside = httpx.get(f"{address}compare", params={"a": 0, "b": 0})
    assert beside.status_code == 200
    assert "Same test rows" in beside.text
    assert httpx.get(f"{address}compare", params={"a": 0, "b": 7}).status_code == 400
