"""Suspect labels come back as they were."""

from unseen.store import read_suspects, write_suspects
from unseen.types import SuspectLabel


def test_suspects_come_back_and_no_spreadsheet_runs_them(tmp_path):
    suspects = [SuspectLabel("=1+1", "@yes", "-no", 0.9321), SuspectLabel("'b", "yes,", "no", 0.51)]
    path = write_suspects(suspects, tmp_path / "suspects.csv")
    assert read_suspects(path) == suspects
    lines = path.read_text().splitlines()
    assert lines[0] == "id,given,likely,confidence"
    assert lines[1] == "'=1+1,'@yes,'-no,0.9321"
    assert [each.name for each in tmp_path.iterdir()] == ["suspects.csv"]
