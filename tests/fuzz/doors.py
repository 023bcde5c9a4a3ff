"""Every way that a file of somebody else's comes in: a sound example, and what reads it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from fake_run import FakeRun
from kind_folders import FOLDERS
from mutations import packed
from small_run import stress_folder

import unseen
from unseen.attacks.dictionaries import WordNet, read_pairs, read_tags
from unseen.attacks.rating_sheet import read_ratings as read_attack_ratings
from unseen.attacks.session_log import read_sessions
from unseen.cards.facts import read_ratings
from unseen.cards.pages import read_document
from unseen.cli.options import class_mix
from unseen.data.catalogue import hatexplain_posts
from unseen.data.tables import load_texts
from unseen.evaluation.metric_usage import metric_usage, read_leaderboards
from unseen.forecasts.features import XLMR_LANGUAGES, read_features
from unseen.forecasts.score_table import read_scores
from unseen.functional.annotations import load_annotations
from unseen.functional.suite_file import build_suite, read_suite_file
from unseen.functional.tables import load_suite
from unseen.models import open_model
from unseen.reports.facts import read_card_facts
from unseen.reports.hub_results import write_hub_results
from unseen.reports.points import leak_table
from unseen.reports.record import read_record
from unseen.representations.word_vectors import read_word_vectors
from unseen.result_tables import read_all_tables, read_result_tables
from unseen.result_tables.lint import lint_tables
from unseen.result_tables.markdown import markdown_tables
from unseen.result_tables.table_audit import audit_tables
from unseen.runs.bench_file import read_bench
from unseen.runs.forecast import read_sheet
from unseen.runs.frame import report
from unseen.runs.study_file import read_study
from unseen.runs.transfer_file import read_datasets
from unseen.runs.validation import read_validation
from unseen.store import (
    read_embeddings,
    read_findings,
    read_parts,
    read_predictions,
    read_split,
    read_suspects,
    write_embeddings,
    write_predictions,
    write_split,
)
from unseen.store.reviews import read_reviews
from unseen.subgroups.groups import read_terms
from unseen.types import Embeddings, Origin, Predictions

ROWS = 60
BENCH = """title = "t"
folds = 3
metrics = ["accuracy", "f1.power(0.5)"]
[hard]
split = "closest"
[family.f]
labels = ["calm", "loud"]
[data.d]
source = "sample"
family = "f"
map = { a = "calm", b = "drop" }
[model.neural]
epochs = 2
trainings = 1
"""
STUDY = """title = "t"
[data.d]
source = "sample"
[model.neural]
epochs = 2
[split.random]
seeds = [1, 2]
[split.closest]
n_clusters = "3..5"
[space.neural]
[train]
seeds = [1, 2]
"""
VALIDATION = """kind = "validation"
gates = ["f1.macro where split=authors >= 0.1"]
[data]
source = "sample"
author = "author"
[pipeline.words]
leaking = "words-chosen-on-all-data"
corrected = "words-chosen-in-training"
share = 0.5
[model.tfidf]
use = "logistic"
[validate]
seeds = [1, 2]
cap = [250, 4]
"""
LABELS = """labels = ["no", "yes"]
positive = "yes"
[data.sample]
map = { bad = "yes", fine = "no" }
[data.more]
source = "sample"
groups = "author"
"""
SUITE = """name = "s"
labels = ["bad", "fine"]
[lists]
THING = ["cats", "dogs"]
[[tests]]
functionality = "F1: plain"
label = "bad"
templates = ["I dislike [THING]", "No more [THING]"]
[[tests]]
functionality = "F2: plain"
label = "fine"
templates = ["I like [THING]"]
"""
CASES = """case_id,functionality,test_case,label,templ_id,target_ident
1,f1,I dislike cats,bad,1,cats
2,f1,I dislike dogs,bad,1,dogs
3,f2,I like cats,fine,2,cats
4,f2,I like dogs,fine,2,dogs
"""
LANGUAGES = {
    "type_overlap": {"xlmr": {one: dict.fromkeys(XLMR_LANGUAGES.split(), 0.5) for one in XLMR_LANGUAGES.split()}},
    "syntactic_distance": {"xlmr": [[0.5] * 87] * 87},
    "regression_feats": {"xlmr": [[9.0, 0.1]] * 87},
}
RESULTS = """---
model-index:
- name: m
  results:
  - dataset: {name: d, split: test}
    metrics:
    - {type: f1, value: 0.71, args: {average: macro}}
---
# Scores
| model | macro F1 | Avg |
|---|---|---|
| a | **.71** ± .02 | 80 % |
| b | .68 [.6, .7] | 12 (3.4 %) |
"""
TABULAR = r"""\begin{table}\caption{F1}
\begin{tabular}{l@{}cc}
\toprule & \multicolumn{2}{c}{Dev} \\ \cmidrule{2-3}
m & \textbf{a} & b \\ \midrule
x & $71.5 \pm 0.4$ & 90\% \\[2pt] % comment
\bottomrule
\end{tabular}
\end{table}
"""
CARD = """---
license: mit
language: [en]
pretty_name: D
---
# D
## Dataset Description
Texts.
"""


@dataclass(frozen=True)
class Door:
    """A sound example and what reads it."""

    name: str
    place: Path
    """The example: a file, or a folder of which one file is spoiled at a time."""
    read: Callable[[Path], Any]

    def files(self) -> list[Path]:
        """What can be spoiled."""
        return sorted(path for path in self.place.rglob("*") if path.is_file()) if self.place.is_dir() else [self.place]


def doors(folder: Path) -> list[Door]:
    """All doors, their examples written to `folder`."""
    return [*_tables(folder), *_records(folder), *_words(folder), *_folders(folder)]


def _rows() -> list[dict[str, Any]]:
    return [
        {"id": f"r{each}", "text": f"a text of {each} words, é", "label": "ab"[each % 2], "who": f"u{each % 9}"}
        for each in range(ROWS)
    ]


def _tables(folder: Path) -> Iterator[Door]:
    """The same rows in every format that `unseen.load` takes."""
    rows = _rows()
    lines = "\n".join(",".join(f'"{value}"' for value in row.values()) for row in rows)
    contents = {
        "d.csv": f"id,text,label,who\n{lines}\n".encode(),
        "d.tsv": ("id\ttext\tlabel\twho\n" + "\n".join("\t".join(row.values()) for row in rows) + "\n").encode(),
        "d.jsonl": "\n".join(map(json.dumps, rows)).encode(),
        "d.json": json.dumps(rows).encode(),
    }
    for name, content in contents.items():
        (folder / name).write_bytes(content)
        yield Door(name, folder / name, lambda path: unseen.load(path, attributes=["who"]))
    (folder / "d.csv.gz").write_bytes(packed(contents["d.csv"]))
    yield Door("d.csv.gz", folder / "d.csv.gz", unseen.load)
    pq.write_table(pa.Table.from_pylist(rows), folder / "d.parquet")
    yield Door("d.parquet", folder / "d.parquet", lambda path: unseen.load(path, attributes=["who"]))


def _records(folder: Path) -> Iterator[Door]:
    """Files that unseen wrote, or somebody for it, about the rows."""
    data = unseen.load(folder / "d.csv", attributes=["who"])
    split = unseen.split(data, "random", test=0.2)
    kept = folder / "split"
    write_split(split, kept / "s.csv")
    yield Door("split", kept, lambda path: read_split(path / "s.csv", data))
    parts = {"train": data.ids.to_pylist()[10:], "test": data.ids.to_pylist()[:10]}
    (folder / "parts.json").write_text(json.dumps(parts))
    yield Door("parts.json", folder / "parts.json", lambda path: read_parts(path, data))
    (folder / "parts.txt").write_text("test: [1, 2, 3]\n")
    yield Door("parts.txt", folder / "parts.txt", lambda path: read_parts(path, data))
    (folder / "parts.csv").write_text("id,part\n" + "\n".join(f"{i},{p}" for p, ids in parts.items() for i in ids))
    yield Door("parts.csv", folder / "parts.csv", lambda path: read_parts(path, data))
    p = np.random.default_rng(0).dirichlet([1, 1], ROWS)
    said = Predictions(data.ids, p, data.label_names, Origin("made up"))
    for name in ("p.csv", "p.parquet"):
        write_predictions(said, folder / "predictions" / name)
        yield Door(name, folder / "predictions" / name, lambda path: read_predictions(path, data))
    vectors = Embeddings(data.ids, np.random.default_rng(0).normal(size=(ROWS, 4)).astype(np.float32))
    write_embeddings(vectors, folder / "vectors" / "v.npy", data)
    yield Door("vectors", folder / "vectors", lambda path: read_embeddings(path / "v.npy", data))


def _words(folder: Path) -> Iterator[Door]:
    """Files that people write."""

    def door(name: str, content: str, read: Callable[[Path], Any]) -> Door:
        (folder / name).write_text(content, encoding="utf-8")
        return Door(name, folder / name, read)

    yield door("study.toml", STUDY, read_study)
    yield door("bench.toml", BENCH, read_bench)
    yield door("mix.csv", "label,share\ncalm,0.2\nloud,0.8\n", lambda path: class_mix(str(path)))
    yield door("validation.toml", VALIDATION, read_validation)
    yield door("labels.toml", LABELS, read_datasets)
    yield door("suite.toml", SUITE, lambda path: build_suite(read_suite_file(path)))
    yield door("suite.yaml", _as_yaml(), lambda path: build_suite(read_suite_file(path)))
    yield door("cases.csv", CASES, load_suite)
    yield door(
        "annotations.csv",
        "case_id,label_1,label_2\n1,bad,bad\n2,bad,fine\n",
        lambda path: load_annotations(path, prefix="label_", id="case_id"),
    )
    yield door("README.md", CARD, read_document)
    for name, content in (("results.md", RESULTS), ("results.tex", TABULAR), ("results.tsv", "m\tF1\na\t.7\nb\t.6\n")):
        yield door(name, content, _results)
    (folder / "evals" / ".eval_results").mkdir(parents=True)
    entry = "- dataset: {id: o/d, task_id: t}\n  value: 0.71\n  notes: macro F1, 20 texts\n"
    (folder / "evals" / ".eval_results" / "results.yaml").write_text(entry)
    yield Door("results for the hub", folder / "evals", lambda path: lint_tables(read_all_tables([path])))
    relation = '[[relation]]\nkind = "mean"\ntarget = "Avg"\nof = ["x", 2]\naxis = "columns"\ntable = 1\n'
    table = markdown_tables("| m | x | Avg |\n|---|---|---|\n| a | 2 | 2 |\n", "t.md")
    yield door("relations.toml", relation, lambda path: audit_tables(table, path))
    yield door("card.json", json.dumps({"unseen_card": 1, "name": "d", "fields": {}}), read_document)
    yield door("card.yaml", "unseen_card: 1\nname: d\nfields: {}\n", read_document)
    yield door("terms.toml", 'cats = ["cat", "kitten"]\n', read_terms)
    yield door("ratings.csv", "item,annotator,label\n1,a,x\n1,b,y\n", read_ratings)
    yield door("new.csv", "id,text,label\n1,one two,x\n2,three,\n", lambda path: load_texts(path, ("x", "y")))
    yield door("to_label.csv", "id,label,text\n1,x,one two\n2,,three\n", lambda path: read_sheet(path, ("x", "y")))
    yield door("scores.csv", "source,size,target,score,near\nen,5,de,.5,.1\nde,5,en,,.2\n", read_scores)
    scores = {"train_config": {"en": 5, "de": 0}, "eval_results": {"en": 0.5, "de": "x"}}
    yield door("scores.json", json.dumps([scores]), read_scores)
    yield door(
        "leaderboards.csv", "dataset,metric,result\na,BLEU-4,.3\nb,F1 (macro),.5\n",
        lambda path: metric_usage(read_leaderboards([path])),
    )  # fmt: skip
    yield door("features.csv", "source,target,near\nen,de,.5\n", read_features)
    yield door("features.json", json.dumps(LANGUAGES), read_features)
    post = {"post_id": "1", "post_tokens": ["a", "b"], "annotators": [{"label": "normal", "target": ["None"]}] * 3}
    yield door("posts.json", json.dumps({"1": post | {"rationales": [[0, 1]]}}), hatexplain_posts)
    yield door("pairs.txt", "rain drizzle\nsnow sleet\n", read_pairs)
    yield door("tags.txt", ";;; tags\nrain NN VB\n", read_tags)
    yield door("glove.txt", "a .1 .2\nb -1 2e-3\n", read_word_vectors)


def _results(path: Path) -> object:
    tables = read_result_tables(path)
    return lint_tables(tables), audit_tables(tables)


def _as_yaml() -> str:
    import tomllib

    import yaml

    return str(yaml.safe_dump(tomllib.loads(SUITE)))


def _folders(folder: Path) -> Iterator[Door]:
    """Run folders and model folders."""

    yield Door("run", FakeRun(rows=60, texts=True).write(folder / "run"), report)
    for kind, write in FOLDERS.items():
        if kind != "stress":
            yield Door(f"{kind} run", write(folder / "runs" / kind, "posts"), report)

    def for_the_hub(path: Path) -> object:
        return write_hub_results(report(path), folder / "hub", "owner/posts")

    for name, read in (("any run", read_record), ("card facts", read_card_facts), ("run for the hub", for_the_hub)):
        yield Door(name, stress_folder(folder / name), read)
    for part, meaning in (("noun", "n"), ("verb", "v"), ("adj", "a"), ("adv", "r")):
        (folder / "dict").mkdir(exist_ok=True)
        lines = {"data": f"00000100 06 {meaning} 02 rain 0 pour 0 001 ! 00000100 {meaning} 0101 | water\n"}
        lines["index"] = f"rain {meaning} 1 1 ! 1 0 00000100\n"
        for kind, line in lines.items():
            (folder / "dict" / f"{kind}.{part}").write_text(line)
    yield Door("dictionary", folder / "dict", lambda path: WordNet(path).synonyms("rain"))
    yield Door("findings.csv", folder / "run" / "findings.csv", read_findings)
    (folder / "suspects.csv").write_text("id,given,likely,confidence,row,test_of\na,hate,normal,.9,line 2,random\n")
    yield Door("suspects.csv", folder / "suspects.csv", read_suspects)
    pq.write_table(pa.table({"split": ["random"], "id": ["a"], "kind": ["near"]}), folder / "leaks.parquet")
    yield Door("leaks.parquet", folder / "leaks.parquet", leak_table)
    line = {"id": "a", "reviewer": "ann", "answer": "other", "label": "fine", "seconds": 2.5, "at": "2026-11-17"}
    undone = {"undo": "a", "reviewer": "ann"}
    (folder / "reviews.jsonl").write_text("".join(json.dumps(each) + "\n" for each in (line, line, undone)))
    yield Door("reviews.jsonl", folder / "reviews.jsonl", read_reviews)
    item = {"id": "a", "text": "one two", "label": "fine", "p": 0.9}
    begun = {"kind": "session", "session": "s", "participant": "h", "modes": ["manual"], "items": [item],
             "orders": {"manual": ["a"]}, "data": "d", "fingerprint": "f", "model": "m", "attack": "characters.v1",
             "params": {}, "seed": 1, "started": "2026-11-18"}  # fmt: skip
    tried = {"kind": "attempt", "session": "s", "item": "a", "mode": "manual", "n": 1, "text": "one", "edits": [],
             "predicted": "bad", "p": 0.8, "p_label": 0.2, "flipped": True, "queries": 2, "help_queries": 0,
             "milliseconds": 5}  # fmt: skip
    (folder / "session.jsonl").write_text("".join(json.dumps(line) + "\n" for line in (begun, tried)))
    yield Door("session.jsonl", folder / "session.jsonl", read_sessions)
    rated = {"item": "t0001", "question": "grammar", "answer": "4", "rater": "h", "seconds": 1.5}
    (folder / "ratings.jsonl").write_text(json.dumps(rated) + "\n" + json.dumps({"undo": ["t0001", "grammar"]}) + "\n")
    yield Door("ratings.jsonl", folder / "ratings.jsonl", read_attack_ratings)
    data = unseen.load(folder / "d.csv")
    for model in ("logistic", "neural", "birnn-attention"):
        trained = unseen.train(data, model=model)
        trained.save(folder / "models" / model)
        yield Door(
            f"model {model}", folder / "models" / model, lambda path: unseen.predict(data, open_model(str(path)))
        )
