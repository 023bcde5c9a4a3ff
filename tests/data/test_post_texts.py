"""Posts written alike."""

import pyarrow as pa
import pytest

from unseen.data.post_texts import plain_posts


@pytest.mark.parametrize(
    ("post", "plain"),
    [
        ("RT @ann: hello", "hello"),
        ("@ann and @bob_2, look", "@USER and @USER, look"),
        ("see www.a.org now", "see HTTP-URL now"),
        ("see HTTPS://a.org/x?y=1", "see HTTP-URL"),
        ("mail ann@home.org", "mail ann@home.org"),
        ("start the RT of it", "start the RT of it"),
        ("so 👍🏽 it is", "so :thumbs up sign:  it is"),
        ("plain", "plain"),
        ("", ""),
    ],
)
def test_what_platforms_write_differently_is_written_alike(post: str, plain: str) -> None:
    assert plain_posts(pa.chunked_array([[post]])).to_pylist() == [plain]
