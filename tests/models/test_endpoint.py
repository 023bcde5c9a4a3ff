from __future__ import annotations

import asyncio
import json
import threading
import time
import traceback
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

from unseen.errors import FetchError, InputError, MismatchError, UnknownNameError, UnseenError
from unseen.inference import predict
from unseen.models import open_model
from unseen.models.endpoint import Endpoint

KEY = 'sesame-7f3a/9+c"b'


class Server:
    """A real server on this machine; `plan` holds what it does to each request, then it answers properly."""

    def __init__(self):
        self.plan, self.asked = [], []
        self.respond = lambda texts: {"probabilities": [[0.25, 0.75] for _ in texts], "labels": ["no", "yes"]}
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                said = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                outer.asked.append((said, dict(self.headers)))
                step = outer.plan.pop(0) if outer.plan else None
                if callable(step):
                    return step(self, said)
                return self.answer(200, json.dumps(outer.respond(said.get("texts"))).encode())

            def answer(self, status, body=b"", **headers):
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name.replace("_", "-"), value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_address[1]}/classify"
        self.thread = threading.Thread(target=self.http.serve_forever, args=(0.01,), daemon=True)
        self.thread.start()

    def stop(self):
        self.http.shutdown()
        self.http.server_close()


def fails(status, body=b"", **headers):
    return lambda handler, said: handler.answer(status, body, **headers)


def drops(handler, said):
    handler.connection.close()


def sleeps(handler, said):
    time.sleep(0.6)


def drips(handler, said):
    """A head, and then a byte now and then."""
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    trickle(handler, b" " * 1000)


def drips_from_the_start(handler, said):
    trickle(handler, b"HTTP/1.0 200 OK\r\nX: " + b"x" * 1000)


def trickle(handler, content):
    try:
        for each in content[:50]:
            handler.wfile.write(bytes([each]))
            handler.wfile.flush()
            time.sleep(0.1)
    except OSError:
        pass  # the client hung up


def cuts_off(handler, said):
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    handler.wfile.write(b'{"probabilities": [[')


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "*")
    running = Server()
    yield running
    running.stop()


@pytest.fixture
def pauses(monkeypatch):
    seen = []
    monkeypatch.setattr(Endpoint, "pause", staticmethod(seen.append))
    return seen


def ids(n):
    return [str(each) for each in range(n)]


def test_texts_go_out_in_batches_and_come_back_in_order(server, tiny):
    server.respond = lambda texts: {
        "labels": ["yes", "no"],
        "probabilities": [[len(t) / 100, 1 - len(t) / 100] for t in texts],
    }
    data = tiny(ids(5), texts=["x" * n for n in (10, 20, 30, 40, 50)])
    found = predict(open_model(server.url, batch=2), data)
    assert [len(said["texts"]) for said, _ in server.asked] == [2, 2, 1]
    np.testing.assert_allclose(found.probabilities[:, data.label_names.index("yes")], [0.1, 0.2, 0.3, 0.4, 0.5])
    assert found.origin.params == {"model": server.url, "hard": False}
    assert server.asked[0][1]["Content-Type"] == "application/json"
    assert "Authorization" not in server.asked[0][1]


@pytest.mark.parametrize(
    ("answer", "expected", "hard"),
    [
        (lambda texts: [[{"label": "yes", "score": 0.9}, {"label": "no", "score": 0.1}] for _ in texts], 0.9, False),
        (lambda texts: [{"yes": 0.9, "no": 0.1} for _ in texts], 0.9, False),
        (lambda texts: {"labels": ["yes" for _ in texts]}, 1.0, True),
        (lambda texts: ["no" for _ in texts], 0.0, True),
    ],
)
def test_forms_of_an_answer(server, tiny, answer, expected, hard):
    server.respond = answer
    for rows in ([0, 1, 2], [0]):
        found = predict(open_model(server.url), tiny(), rows)
        assert found.probabilities[:, 1].tolist() == [expected] * len(rows)
        assert found.origin.params["hard"] is hard


def test_one_text_may_be_answered_without_a_list_around(server, tiny):
    server.respond = lambda texts: [{"label": "yes", "score": 0.9}, {"label": "no", "score": 0.1}]
    assert predict(open_model(server.url), tiny(), [0]).probabilities.tolist() == [[0.1, 0.9]]


def test_the_form_of_request_and_response_can_be_set(server, tiny):
    server.respond = lambda texts: {"result": {"rows": [[0.25, 0.75]] * 4}}
    options = {"field": "inputs", "extra": {"parameters": {"top_k": None}}, "answer": "result.rows"}
    found = predict(open_model(server.url, label_names=["yes", "no"], **options), tiny())
    assert found.probabilities.tolist() == [[0.75, 0.25]] * 4
    assert server.asked[0][0].keys() == {"inputs", "parameters"}


def test_numbers_without_names_are_refused(server, tiny):
    server.respond = lambda texts: [[0.25, 0.75] for _ in texts]
    with pytest.raises(MismatchError, match="which column is which label"):
        predict(open_model(server.url), tiny())
    assert predict(open_model(server.url, label_names=["no", "yes"]), tiny()).probabilities[0, 1] == 0.75


def test_what_may_pass_is_tried_again(server, tiny, pauses):
    server.plan = [fails(503), fails(500), drops, fails(429, Retry_After="7")]
    assert len(predict(open_model(server.url), tiny()).ids) == 4
    assert len(server.asked) == 5
    assert pauses == [0.5, 1.0, 2.0, 7.0]


def test_the_server_may_say_until_when_to_wait(server, tiny, pauses):
    soon, later = formatdate(time.time() + 30, usegmt=True), formatdate(time.time() + 9999, usegmt=True)
    server.plan = [fails(429, Retry_After=soon), fails(429, Retry_After=later), fails(429, Retry_After="nonsense")]
    predict(open_model(server.url), tiny())
    assert 25 < pauses[0] <= 30
    assert pauses[1:] == [60.0, 2.0]


def test_trying_ends(server, tiny, pauses):
    server.plan = [fails(503)] * 9
    with pytest.raises(FetchError, match="failed 3 times: status 503"):
        predict(open_model(server.url, retries=2), tiny())
    assert len(server.asked) == 3
    assert len(pauses) == 2


def test_what_will_not_pass_is_not_tried_again(server, tiny, pauses):
    server.plan = [fails(404, b"nothing here")]
    with pytest.raises(FetchError, match="status 404") as caught:
        predict(open_model(server.url), tiny())
    assert "nothing here" in str(caught.value)
    assert len(server.asked) == 1


def test_slow_answers_time_out_and_are_tried_again(server, tiny, pauses):
    server.plan = [sleeps]
    assert len(predict(open_model(server.url, timeout=0.2), tiny()).ids) == 4
    assert pauses == [0.5]
    server.plan = [sleeps] * 2
    with pytest.raises(FetchError, match=r"no answer within 0.2 seconds"):
        predict(open_model(server.url, timeout=0.2, retries=0), tiny())


def test_nobody_is_there(server, tiny, pauses):
    server.stop()
    with pytest.raises(FetchError, match="failed 2 times"):
        predict(open_model(server.url, retries=1), tiny())


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"[" * 100_000, "did not answer with JSON"),
        (b"<html>", "did not answer with JSON"),
        (b"", "did not answer with JSON"),
        (b"\xff\xfe", "did not answer with JSON"),
        (b"3", "did not answer with rows"),
        (b'{"rows": []}', "a form that is not known"),
        (b'{"probabilities": 3}', "a form that is not known"),
        (b'{"probabilities": [[0.5, 0.5]], "labels": ["no", "yes"]}', "1 rows for 4 texts"),
        (b'{"probabilities": [[0.5]], "labels": ["no", "yes"]}', "a probability for each of its labels"),
        (b'{"probabilities": [null], "labels": ["no", "yes"]}', "a probability for each of its labels"),
        (b'["yes", "no", "yes", 1]', "neither probabilities nor labels"),
        (b'[{"yes": "much"}, {"no": 1}, {"no": 1}, {"no": 1}]', "no number"),
        (b'[{"yes": NaN}, {"no": 1}, {"no": 1}, {"no": 1}]', "not probabilities"),
        (b'[{"yes": 0.5}, {"no": 1}, {"no": 1}, {"no": 1}]', "not probabilities"),
        (b"[[[1]], [[1]], [[1]], [[1]]]", "wrong shape"),
    ],
)
def test_answers_that_are_wrong(server, tiny, pauses, body, message):
    server.plan = [fails(200, body)]
    with pytest.raises(InputError, match=message):
        predict(open_model(server.url), tiny())
    assert pauses == []


def test_rows_missing_from_one_batch_are_not_made_up_by_another(server, tiny):
    server.plan = [fails(200, b'["no", "no", "no"]'), fails(200, b'["no"]')]
    with pytest.raises(InputError, match="3 rows for 2 texts"):
        predict(open_model(server.url, batch=2), tiny())


def test_labels_nobody_declared_are_refused(server, tiny):
    server.respond = lambda texts: {"probabilities": [[1, 0] for _ in texts], "labels": ["no", "yep"]}
    with pytest.raises(UnknownNameError, match="did you mean 'yes'"):
        predict(open_model(server.url), tiny())
    assert predict(open_model(server.url, rename={"yep": "yes"}), tiny()).probabilities[0].tolist() == [1, 0]


def test_the_rate_is_kept(server, tiny, pauses):
    predict(open_model(server.url, batch=1, rate=0.01), tiny())
    waited = [pause for pause in pauses if pause > 0]
    assert waited == pytest.approx([100, 200, 300], abs=90), "a hundred seconds between requests, and nobody waited"


def test_the_key_is_sent_and_appears_nowhere(server, tiny, monkeypatch, pauses, caplog, capfd):
    monkeypatch.setenv("MY_KEY", KEY)
    caplog.set_level(0)
    found = predict(open_model(server.url + "?token=hidden", key_env="MY_KEY"), tiny())
    assert server.asked[0][1]["Authorization"] == f"Bearer {KEY}"
    assert found.origin.params["model"] == server.url
    echo = f"you sent Bearer {KEY}".encode()
    echoing = [
        fails(401, echo),
        fails(400, json.dumps({"error": KEY}).encode()),
        fails(200, echo),
        fails(200, json.dumps({KEY: 1}).encode()),
        fails(200, json.dumps([KEY] * 4).encode()),
        fails(200, json.dumps([{"yes": KEY}] * 4).encode()),
        fails(200, b'["' + "".join(f"\\u{ord(each):04x}" for each in KEY).encode() + b'"]'),
        fails(307, Location=f"http://example.invalid/?key={KEY}"),
        fails(503, echo),
        drops,
    ]
    echoing += [fails(400, b"POST /?token=hidden"), fails(200, json.dumps(["hidden"] * 4).encode())]
    said = [repr(found.origin)]
    for step in echoing:
        server.plan = [step]
        model = open_model(server.url + "?token=hidden", key_env="MY_KEY", retries=0)
        with pytest.raises(UnseenError) as caught:
            predict(model, tiny())
        said += [
            "".join(traceback.format_exception(caught.value)),
            repr(model),
            repr(vars(model)),
            repr(model.function),
        ]
        said.append(repr(vars(model.function)).replace(repr(model.function.url), ""))
    said += [caplog.text, *capfd.readouterr()]
    shown = "\n".join(said)
    assert "status 401" in shown
    for secret in (KEY, KEY[:10], "hidden"):
        assert secret not in shown


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirects_are_not_followed(server, tiny, monkeypatch, status):
    monkeypatch.setenv("MY_KEY", KEY)
    other = Server()
    server.plan = [fails(status, Location=other.url)]
    with pytest.raises(FetchError, match="redirects to"):
        predict(open_model(server.url, key_env="MY_KEY"), tiny())
    assert other.asked == []
    other.stop()


def test_values_of_the_address_are_struck_as_the_server_writes_them(server, tiny):
    server.plan = [fails(400, b"no a/b+c=, no a/b c=, no a%2Fb%2Bc%3D")]
    with pytest.raises(UnseenError, match=r"no \*\*\*, no \*\*\*, no \*\*\*"):
        predict(open_model(server.url + "?v=no&sig=a/b+c="), tiny())


def test_a_label_that_is_a_word_of_the_address_stays(server, tiny):
    server.plan = [fails(200, json.dumps(["toxicity"] * 4).encode())]
    model = open_model(server.url + "?model=toxicity", rename={"toxicity": "yes"})
    assert predict(model, tiny()).probabilities[:, 1].tolist() == [1] * 4


@pytest.mark.parametrize("key", ["line\nbreak", "schlüssel"])
def test_a_key_no_header_can_carry_is_refused_without_showing_it(server, monkeypatch, key):
    monkeypatch.setenv("MY_KEY", key)
    with pytest.raises(InputError, match="MY_KEY") as caught:
        open_model(server.url, key_env="MY_KEY")
    assert key not in "".join(traceback.format_exception(caught.value))


def test_a_key_that_is_not_there_is_asked_for_when_opening(server, monkeypatch):
    monkeypatch.delenv("MY_KEY", raising=False)
    with pytest.raises(InputError, match="the environment variable MY_KEY holds no key"):
        open_model(server.url, key_env="MY_KEY")


def test_a_key_does_not_travel_unencrypted(monkeypatch):
    monkeypatch.setenv("MY_KEY", KEY)
    with pytest.raises(InputError, match="unencrypted"):
        open_model("http://example.invalid/classify", key_env="MY_KEY")
    assert open_model("https://example.invalid/classify", key_env="MY_KEY").source == "https://example.invalid/classify"


def test_a_password_in_the_address_is_refused_without_showing_it():
    with pytest.raises(InputError, match="holds a password") as caught:
        open_model("https://me:opensesame@example.invalid/")
    assert "opensesame" not in str(caught.value)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"batch": 0}, "batch"),
        ({"retries": -1}, "retries"),
        ({"timeout": 0}, "timeout"),
        ({"rate": 0}, "rate"),
        ({"batch": "many"}, "'batch' takes int"),
        ({"timeout": "long", "retries": 0}, "'timeout' takes float"),
        ({"extra": "language"}, "extra must be names and values"),
        ({"time_out": 3}, "did you mean 'timeout'"),
        ({"trust": True}, "'trust' is not a parameter"),
    ],
)
def test_options_that_are_wrong(options, message):
    with pytest.raises(InputError, match=message):
        open_model("http://127.0.0.1:9/", **options)


@pytest.mark.parametrize("url", ["http://", "http://host:port/", "https:///path"])
def test_addresses_that_are_none(url):
    with pytest.raises(InputError, match="address"):
        open_model(url)


@pytest.mark.parametrize("step", [drips, drips_from_the_start])
def test_an_answer_that_never_ends_is_given_up_and_tried_again(server, tiny, step):
    server.plan = [step]
    begun = time.monotonic()
    model = open_model(server.url, timeout=0.5, retries=1)
    model.function.pause = lambda seconds: None
    assert predict(model, tiny()).probabilities.shape == (4, 2)
    server.plan = [step]
    with pytest.raises(FetchError, match=r"no answer within 0\.5 seconds"):
        predict(open_model(server.url, timeout=0.5, retries=0), tiny())
    assert time.monotonic() - begun < 4


def test_an_answer_that_was_cut_off_is_asked_for_again(server, tiny):
    server.plan = [cuts_off]
    model = open_model(server.url, retries=1)
    model.function.pause = lambda seconds: None
    assert predict(model, tiny()).probabilities.shape == (4, 2)
    server.plan = [cuts_off]
    with pytest.raises(FetchError, match="cut off"):
        predict(open_model(server.url, retries=0), tiny())


def test_a_server_of_this_machine_is_asked_without_a_proxy(server, tiny, monkeypatch):
    monkeypatch.delenv("NO_PROXY")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.setenv("SESAME", KEY)
    predict(open_model(server.url, key_env="SESAME", retries=0), tiny())
    assert server.asked[0][1]["Authorization"] == f"Bearer {KEY}"


def test_an_endpoint_is_asked_from_a_notebook_too(server, tiny):
    async def cell():
        return predict(open_model(server.url), tiny())

    assert len(asyncio.run(cell()).ids) == 4
