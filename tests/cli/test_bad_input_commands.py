"""Whatever is wrong with the input of a command: one clear message, exit code 2, nothing written."""

from __future__ import annotations

import os
import resource
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from unseen.cli.options import check_target, numbers_of_clusters, size
from unseen.errors import InputError

GOOD = np.random.default_rng(0).normal(size=(60, 5)).astype(np.float32)
COLUMNS = "--text text --label label --id id"
RANDOM = f"split make posts.csv {COLUMNS} --with random"
CLOSEST = f"split make posts.csv {COLUMNS} --with closest --clusters 3-6"
ENCODE = f"model encode posts.csv {COLUMNS}"
ANALYSE = f"split describe posts.csv --split hard.csv {COLUMNS}"
MAKE = f"split make posts.csv {COLUMNS} --with random --quiet -o hard.csv"
CHANGE = ("hard.csv", "p00,train", "p00,test")
OTHER = [f"split make other.csv {COLUMNS} --with random --quiet -o hard.csv"]


class Case(NamedTuple):
    """A command, what its message must say, files to be there, and commands to run before."""

    command: str
    fragments: list[str]
    files: dict[str, Any] = {}  # noqa: RUF012
    """Bytes, an array (as .npy), None (a folder), or a change of posts.csv as a function of number and row."""
    before: list[Any] = []  # noqa: RUF012
    """Commands, or a file, what to replace in it, and by what."""


def changed(**values: Any) -> np.ndarray:
    """Good vectors, but for rows that are given as `row_3=value`."""
    vectors = GOOD.copy()
    for name, value in values.items():
        vectors[int(name.removeprefix("row_"))] = value
    return vectors


def users(name: Callable[[int], str]) -> Callable[[int, dict[str, str]], dict[str, str]]:
    return lambda number, row: {"user": name(number)}


def table(*lines: bytes) -> dict[str, bytes]:
    return {"posts.csv": b"\n".join([b"text,label", *lines, b""])}


BARE = "split make posts.csv --with random --test 2"
"""Of a table that has nothing but texts and labels."""

TABLES = {
    "missing column": Case(
        "split make posts.csv --text txt --label label",
        ["posts.csv", "'txt' is missing; did you mean 'text'?", "'source'"],
    ),
    "a word of a column": Case(
        "split make posts.csv --text tweet",
        ["'tweet' is missing; did you mean 'tweet_text'?", "'tweet_text', 'label'"],
        {"posts.csv": b"tweet_text,label\na,no\nb,yes\n"},
    ),
    "two missing columns": Case(
        "model encode posts.csv --text txt --label lable",
        ["'txt' is missing", "'lable' is missing; did you mean 'label'?"],
    ),
    "empty file": Case(BARE, ["posts.csv is empty"], {"posts.csv": b""}),
    "header only": Case(BARE, ["column names, but no rows"], table()),
    "one class only": Case(BARE, ["only one label occurs: 'no'"], table(b"a,no", b"b,no", b"c,no")),
    "unlabelled rows": Case(BARE, ["2 rows have no label: lines 3, 5"], table(b"a,no", b"b,", b"c,yes", b"d,")),
    "duplicate ids": Case(
        RANDOM,
        ["1 row has the id of an earlier row: 'p01' on lines 3, 6"],
        {"posts.csv": lambda number, row: {"id": "p01"} if number == 4 else {}},
    ),
    "ragged rows": Case(
        BARE,
        ["line 3: 1 field, the header has 2", "line 4: 3 fields", "2 problems"],
        table(b"a,no", b"b", b"c,yes,x", b"d,no"),
    ),
    "bad UTF-8": Case(
        BARE, ["line 2: not UTF-8: byte 0xe9", "line 4: not UTF-8"], table(b"caf\xe9,no", b"b,yes", b"\xff,no")
    ),
    "NUL bytes": Case(BARE, ["line 2: NUL byte: at byte 2", "line 3: NUL byte"], table(b"a\0b,no", b"c,yes\0")),
    "unbalanced quotes": Case(
        BARE, ["line 3: the quote that opens '\"open,yes' is never closed"], table(b"a,no", b'"open,yes', b"c,no")
    ),
    "a folder": Case(
        "split make texts --with random", ["texts", "is a folder"], {"texts": None, "texts/a.csv": b"text\n"}
    ),
    "a binary file": Case(BARE, ["posts.csv", "a PNG image"], {"posts.csv": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"}),
    "no such file": Case(
        "split make post.csv --with random", ["there is no file post.csv", "did you mean 'posts.csv'"]
    ),
    "no such file to encode": Case("model encode nowhere/x.csv", ["there is no file", "no folder"]),
    "option without effect on a table": Case(f"{RANDOM} --data-dir .", ["data_dir has no effect"]),
    "option without effect on the sample": Case("split make sample --label x", ["label has no effect on the sample"]),
    "dataset that is not here": Case(
        "split make stormfront --data-dir empty",
        ["stormfront is not in empty", "stormfront/stormfront.csv", "unseen data fetch stormfront"],
    ),
    "labels half named": Case(f"{RANDOM} --labels calm=a,loud", ["all names or all pairs", "'0=a,1=b'", "calm=a,loud"]),
}

VECTORS = {
    "NaN": Case(
        f"{CLOSEST} --vectors v.npy",
        ["2 of 60 vectors are not finite", "no NaN", "rows 3, 7", "drop them"],
        {"v.npy": changed(row_3=np.nan, row_7=np.nan)},
    ),
    "infinite": Case(f"{CLOSEST} --vectors v.npy", ["not finite", "rows 4"], {"v.npy": changed(row_4=np.inf)}),
    "another length": Case(
        f"{CLOSEST} --vectors v.npy", ["vectors of another length", "60 rows", "59 rows"], {"v.npy": GOOD[:59]}
    ),
    "another dataset": Case(
        f"{CLOSEST} --vectors v.npy",
        ["v.npy belong to another dataset", "expected: dataset", "got: dataset", "encode this file again"],
        {"other.csv": lambda number, row: {"text": f"{row['text']} changed"}},
        [f"model encode other.csv {COLUMNS} -q -o v.npy"],
    ),
    "changed after they were written": Case(
        f"{CLOSEST} --vectors v.npy",
        ["v.npy was changed"],
        {},
        [f"{ENCODE} -q -o v.npy", ("v.npy", "'fortran_order': False", "'fortran_order': True ")],
    ),
    "constant": Case(f"{CLOSEST} --vectors v.npy", ["v", "same"], {"v.npy": np.ones((60, 5))}),
    "constant, any number of clusters": Case(
        f"split make posts.csv {COLUMNS} --vectors v.npy", ["different vectors"], {"v.npy": np.ones((60, 5))}
    ),
    "zero": Case(
        f"{CLOSEST} --vectors v.npy",
        ["2 of 60 vectors are all zeros", "rows 2, 9", "another encoder"],
        {"v.npy": changed(row_2=0, row_9=0)},
    ),
    "all zero": Case(f"{CLOSEST} --vectors v.npy", ["60 of 60 vectors are all zeros"], {"v.npy": 0 * GOOD}),
    "zero, analysed": Case(f"{ANALYSE} --vectors v.npy", ["all zeros"], {"v.npy": changed(row_2=0)}, [MAKE]),
    "pickled": Case(
        f"{CLOSEST} --vectors v.npy",
        ["v.npy is not an NPY file of numbers", "numpy.save"],
        {"v.npy": np.array([{}] * 60, dtype=object)},
    ),
    "one number per row": Case(f"{CLOSEST} --vectors v.npy", ["must be a table", "(60,)"], {"v.npy": GOOD[:, 0]}),
    "no number per row": Case(f"{CLOSEST} --vectors v.npy", ["must be a table", "(60, 0)"], {"v.npy": GOOD[:, :0]}),
    "words": Case(f"{CLOSEST} --vectors v.npy", ["must be numbers"], {"v.npy": np.full((60, 2), "word")}),
    "not NPY": Case(f"{CLOSEST} --vectors posts.csv", ["posts.csv is not an NPY file"]),
    "a folder": Case(f"{CLOSEST} --vectors .", ["cannot read vectors from .", "directory"]),
    "no file": Case(f"{CLOSEST} --vectors no.npy", ["cannot read vectors from no.npy", "No such file"]),
    "no effect": Case(f"{RANDOM} --vectors v.npy", ["no effect on the splitter 'random", "leave"], {"v.npy": GOOD}),
    "encoder without effect": Case(f"{RANDOM} --encoder tfidf", ["no effect on the splitter 'random"]),
    "and an encoder": Case(f"{CLOSEST} --vectors v.npy --encoder tfidf", ["--encoder has no effect with --vectors"]),
    "and an encoder, analysed": Case(
        f"{ANALYSE} --vectors v.npy --encoder tfidf", ["--encoder has no effect"], {}, [MAKE]
    ),
    "deployment of another width": Case(
        f"split make posts.csv {COLUMNS} --with deployment --vectors v.npy --deployment d.npy",
        ["deployment vectors do not fit", "rows of 5 numbers", "(60, 3)"],
        {"v.npy": GOOD, "d.npy": GOOD[:, :3]},
    ),
    "deployment pickled": Case(
        f"split make posts.csv {COLUMNS} --with deployment --deployment d.npy",
        ["d.npy is not an NPY file of numbers"],
        {"d.npy": np.array([{}], dtype=object)},
    ),
    "deployment not there": Case(
        f"split make posts.csv {COLUMNS} --with deployment --deployment d.npy", ["d.npy: No such file"]
    ),
    "deployment not given": Case(f"split make posts.csv {COLUMNS} --with deployment", ["needs deployment vectors"]),
}

SIZES = {
    "test 0": Case(f"{RANDOM} --test 0", ["--test must be a share between 0 and 1", "got: '0'", "--test 0.1"]),
    "test 1": Case(f"{RANDOM} --test 1", ["--test must be", "rows above 1", "got: '1'"]),
    "test 1.0": Case(f"{RANDOM} --test 1.0", ["--test must be", "got: '1.0'"]),
    "test 1.5": Case(f"{RANDOM} --test 1.5", ["--test must be", "got: '1.5'"]),
    "test -1": Case(f"{RANDOM} --test -1", ["--test must be", "got: '-1'"]),
    "test abc": Case(f"{RANDOM} --test abc", ["--test must be a number", "got: 'abc'"]),
    "test nan": Case(f"{RANDOM} --test nan", ["--test must be", "got: 'nan'"]),
    "test inf": Case(f"{RANDOM} --test inf", ["--test must be", "got: 'inf'"]),
    "test nothing": Case(f"{RANDOM} --test ''", ["--test must be a number", "got: ''"]),
    "test all rows": Case(f"{RANDOM} --test 60", ["60 of 60 rows", "at most 59"]),
    "test less than a row": Case(f"{RANDOM} --test 0.001", ["0 of 60 rows", "at least 1"]),
    "larger than a class allows": Case(
        f"{RANDOM} --test 0.5 --mix calm=0.95,loud=0.05",
        ["larger than a class allows", "calm: 28 test rows asked, 20 in the data", "smaller test part"],
        {"posts.csv": lambda number, row: {"label": "calm" if number < 20 else "loud"}},
    ),
    "a class with one row": Case(
        RANDOM,
        ["the class 'rare' has only one row", "two rows of each class"],
        {"posts.csv": lambda number, row: {"label": "rare"} if number == 3 else {}},
    ),
    "dev 0": Case(f"{RANDOM} --dev 0", ["--dev must be a share"]),
    "independent -3": Case(f"{RANDOM} --independent -3", ["--independent must be a share", "got: '-3'"]),
    "dev of all rows": Case(f"{RANDOM} --dev 0.95", ["57 of 54 rows"]),
    "unknown mix": Case(f"{RANDOM} --mix equal", ["no mix is called 'equal'", "balanced"]),
    "mix of an unknown label": Case(f"{RANDOM} --mix clam=0.5,loud=0.5", ["'clam'; did you mean 'calm'?"]),
    "mix that is no number": Case(
        f"{RANDOM} --mix calm=half,loud=half", ["mix(calm=half,loud=half) needs a number", "'half'"]
    ),
    "mix that does not sum to one": Case(f"{RANDOM} --mix calm=1,loud=1", ["must sum to one", "sum 2.0"]),
    "more clusters than rows": Case(
        f"split make posts.csv {COLUMNS} --clusters 61 --vectors v.npy", ["61 clusters of 60 rows"], {"v.npy": GOOD}
    ),
    "clusters 0": Case(f"split make posts.csv {COLUMNS} --clusters 0", ["at least 1", "[0]"]),
    "clusters in words": Case(
        f"split make posts.csv {COLUMNS} --clusters few", ["--clusters must be numbers", "'few'"]
    ),
    "clusters from more to fewer": Case(
        f"split make posts.csv {COLUMNS} --clusters 9-3", ["the smaller first", "'9-3'"]
    ),
    "clusters without end": Case(
        f"split make posts.csv {COLUMNS} --clusters 3-99999999999", ["--clusters must be numbers"]
    ),
    "one fold": Case(f"split make posts.csv {COLUMNS} --with hard-kfold --folds 1", ["from 2", "got: 1"]),
    "more folds than rows": Case(
        f"split make posts.csv {COLUMNS} --with hard-kfold --folds 61", ["to the number of rows"]
    ),
    "difficulty 2": Case(f"split make posts.csv {COLUMNS} --with difficulty --difficulty 2", ["from 0 (random) to 1"]),
    "seed in words": Case(f"{RANDOM} --seed lucky", ["--seed"]),
    "no dimensions": Case(f"{ENCODE} --dimensions 0", ["dimensions must be at least 1"]),
}

GROUPS = {
    "missing column": Case(f"{RANDOM} --groups usr", ["'usr' is missing; did you mean 'user'?"]),
    "every group too large": Case(
        f"split make posts.csv {COLUMNS} --with grouped --groups user",
        ["whole groups cannot give a test part of 6 rows", "'ann' (30 rows), 'bob' (30 rows)", "finer attribute"],
        {"posts.csv": users(lambda number: ("ann", "bob")[number // 30])},
    ),
    "every group too large, subset-sum": Case(
        f"split make posts.csv {COLUMNS} --with subset-sum --groups user --vectors v.npy",
        ["whole groups cannot give a test part of 6 rows", "'g0' (15 rows)"],
        {"v.npy": GOOD, "posts.csv": users(lambda number: f"g{number // 15}")},
    ),
    "one group": Case(
        f"split make posts.csv {COLUMNS} --with grouped --groups user",
        ["all rows are in one group", "'ann'", "finer attribute"],
        {"posts.csv": users(lambda number: "ann")},
    ),
    "no row has a group": Case(
        f"split make posts.csv {COLUMNS} --with grouped --groups user",
        ["no row has a value in 'user'", "name another column"],
        {"posts.csv": users(lambda number: "")},
    ),
    "no groups": Case(f"split make posts.csv {COLUMNS} --with grouped", ["'grouped' needs groups"]),
    "no effect": Case(
        f"split make posts.csv {COLUMNS} --with attribute --by source --values app --groups user",
        ["groups have no effect on the splitter 'attribute'"],
    ),
}

NAMES = {
    "splitter": Case(f"split make posts.csv {COLUMNS} --with clossest", ["'clossest'; did you mean 'closest'?", "ls"]),
    "encoder": Case(f"split make posts.csv {COLUMNS} --encoder tfdif", ["'tfdif'; did you mean 'tfidf'?"]),
    "encoder to encode": Case(
        f"{ENCODE} --encoder tfdif", ["did you mean 'tfidf'?", "'unseen model ls encoders' lists"]
    ),
    "knob": Case(f"{CLOSEST} --set n_inti=3", ["'n_inti' is not a parameter; did you mean 'n_init'?", "max_iter"]),
    "knob without a value": Case(f"{CLOSEST} --set n_init", ["--set takes name=value", "'n_init'"]),
    "knob with an option of its own": Case(f"{RANDOM} --set using=3", ["--set does not take using", "--vectors"]),
    "knob given twice": Case(f"{CLOSEST} --set n_clusters=3", ["n_clusters is given twice"]),
    "knob without effect": Case(f"{RANDOM} --difficulty 0.5", ["'random'", "'difficulty' is not a parameter"]),
    "clusters without effect": Case(f"{RANDOM} --clusters 5", ["'n_clusters' is not a parameter"]),
    "test without effect": Case(
        f"split make posts.csv {COLUMNS} --with hard-kfold --test 0.1", ["--test 0.1 has no effect", "'hard-kfold'"]
    ),
    "column without effect": Case(f"{RANDOM} --by source", ["--by source has no effect"]),
    "column": Case(f"split make posts.csv {COLUMNS} --with attribute --by sorce", ["did you mean 'source'?"]),
    "column not named": Case(f"split make posts.csv {COLUMNS} --with time", ["reads an attribute", "--by"]),
    "column without times": Case(
        f"split make posts.csv {COLUMNS} --with time --by source", ["no time", "ISO 8601", "app"]
    ),
    "column without parts": Case(
        f"split make posts.csv {COLUMNS} --with predefined --by source", ["no known name", "'app', 'mail', 'web'"]
    ),
    "value": Case(
        f"split make posts.csv {COLUMNS} --with attribute --by source --values ap", ["'ap'; did you mean 'app'?"]
    ),
    "values on one side": Case(
        f"split make posts.csv {COLUMNS} --with attribute --by source --values app,mail,web", ["nothing on one side"]
    ),
    "distance": Case(f"{ANALYSE} --distance cosin", ["cosine", "'cosin'"], {}, [MAKE]),
    "splitter of one's own": Case(
        f"split make posts.csv {COLUMNS} --with nowhere:Split", ["cannot be imported", "nowhere"]
    ),
    "kind": Case("model ls recipe", ["'recipe'; did you mean 'recipes'?"]),
    "dataset": Case("data show stromfront", ["'stromfront'; did you mean 'stormfront'?"]),
    "form": Case(
        f"split export posts.csv --split hard.csv {COLUMNS} --format json -o x",
        ["no form is called 'json'", "indices, hf"],
    ),
    "option": Case(f"{RANDOM} --tset 3", ["--tset"]),
    "command": Case("spilt posts.csv", ["spilt"]),
    "argument": Case("split make", ["DATA"]),
}

OUTPUTS = {
    "below a file": Case(f"{RANDOM} -o posts.csv/hard.csv", ["cannot write posts.csv/hard.csv", "not a folder"]),
    "where nothing can be": Case(f"{RANDOM} -o /proc/unseen/hard.csv", ["cannot write /proc/unseen/hard.csv"]),
    "a folder": Case(f"{RANDOM} -o out.csv", ["out.csv: it is a folder", "-o out.csv/NAME.csv"], {"out.csv": None}),
    "the current folder": Case(f"{RANDOM} -o .", ["it is a folder", "-o NAME.csv"]),
    "wrong ending": Case(f"{RANDOM} -o hard.txt", ["hard.txt does not end in .csv", "-o hard.csv"]),
    "the data itself": Case(f"{RANDOM} -o posts.csv", ["posts.csv is not a file of unseen's and would be overwritten"]),
    "somebody else's JSON beside it": Case(
        f"{RANDOM} -o hard.csv", ["hard.json is not a file of unseen's"], {"hard.json": b'{"mine": 1}'}
    ),
    "one fold a folder": Case(
        f"split make posts.csv {COLUMNS} --with hard-kfold --folds 3 --vectors v.npy -o f.csv -q",
        ["f-3.csv: it is a folder"],
        {"f-3.csv": None, "v.npy": GOOD},
    ),
    "vectors, wrong ending": Case(f"{ENCODE} -o v.csv", ["v.csv does not end in .npy", "-o v.npy"]),
    "vectors, a folder": Case(f"{ENCODE} -o v.npy", ["v.npy: it is a folder"], {"v.npy": None}),
    "vectors of one's own": Case(f"{ENCODE} -o v.npy", ["v.npy is not a file of unseen's"], {"v.npy": GOOD}),
    "export to a file": Case(
        f"split export posts.csv --split hard.csv {COLUMNS} --format indices -o posts.csv",
        ["posts.csv exists already"],
        {},
        [MAKE],
    ),
    "export below a file": Case(
        f"split export posts.csv --split hard.csv {COLUMNS} --format indices -o posts.csv/x",
        ["cannot write", "posts.csv/x"],
        {},
        [MAKE],
    ),
    "export where nothing can be": Case(
        f"split export posts.csv --split hard.csv {COLUMNS} --format hf -o /proc/unseen/x",
        ["cannot write /proc/unseen/x"],
        {},
        [MAKE],
    ),
    "demo in a file": Case("demo --out posts.csv", ["cannot write to posts.csv"]),
}

SPLITS = {
    "of another dataset": Case(
        ANALYSE,
        ["the split 'random' belongs to another dataset", "expected: fingerprint", "50 rows", "posts: fingerprint"],
        {"other.csv": 50},
        OTHER,
    ),
    "of another dataset, exported": Case(
        f"split export posts.csv --split hard.csv {COLUMNS} --format indices -o x",
        ["another dataset"],
        {"other.csv": 50},
        OTHER,
    ),
    "of the same dataset with other columns": Case(
        "split describe posts.csv --split hard.csv --text user --label label",
        ["another dataset", "same columns"],
        {},
        [MAKE],
    ),
    "tampered with": Case(ANALYSE, ["hard.csv was changed", "sha256", "restore"], {}, [MAKE, CHANGE]),
    "tampered with, exported": Case(
        f"split export posts.csv --split hard.csv {COLUMNS} --format indices -o x",
        ["hard.csv was changed"],
        {},
        [MAKE, CHANGE],
    ),
    "without a known part": Case(
        ANALYSE, ["hard.csv has wrong rows", "line 2: p00,tset,"], {}, [MAKE, ("hard.csv", "p00,train", "p00,tset")]
    ),
    "with a broken certificate": Case(
        ANALYSE, ["hard.json is not valid JSON"], {}, [MAKE, ("hard.json", "certificate", '"')]
    ),
    "of another version": Case(
        ANALYSE,
        ["of another version", "format 1", "9"],
        {},
        [MAKE, ("hard.json", '"format": 1', '"format": 9')],
    ),
    "with somebody else's JSON": Case(
        ANALYSE, ["hard.json is not the certificate"], {"hard.csv": b"id,part\n", "hard.json": b"{}"}
    ),
    "not there": Case(ANALYSE, ["there is no file hard.csv", "check the path"]),
    "a folder": Case(f"split describe posts.csv --split . {COLUMNS}", ["cannot read the split .", "directory"]),
    "not a table": Case(ANALYSE, ["hard.csv"], {"hard.csv": b"\xff\xfe\0"}),
    "with ids of other rows": Case(ANALYSE, ["hard.csv", "x1"], {"hard.csv": b"id,part\nx1,train\np01,test\n"}),
    "with one side only": Case(ANALYSE, ["one side without rows"], {"hard.csv": b"id,part\np00,train\np01,train\n"}),
    "an image": Case(
        f"audit data posts.csv --split p.png {COLUMNS}",
        ["p.png cannot be read as a split", "a PNG image"],
        {"p.png": b"\x89PNG"},
    ),
    "a column": Case(
        f"audit data posts.csv --split source {COLUMNS}", ["no split file source", "did you mean --parts source?"]
    ),
    "a column, for a command without --parts": Case(
        f"model score posts.csv p.csv --split source {COLUMNS}",
        ["unseen split make posts.csv --with predefined --by source -o"],
    ),
    "with positions beyond the data": Case(
        f"split describe posts.csv --split hard.txt {COLUMNS}", ["hard.txt", "60"], {"hard.txt": b"test: [3, 60]\n"}
    ),
}

STRESS = f"stress posts.csv {COLUMNS} --out run"
TRAIN = f"model train posts.csv {COLUMNS}"
PREDICT = f"model predict posts.csv {COLUMNS}"
MODELS = {
    "mistyped": Case(f"{STRESS} --model nueral", ["'nueral'", "did you mean 'neural'?"]),
    "an endpoint to train": Case(f"{TRAIN} --model https://example.org", ["an endpoint cannot be trained"]),
    "a pickle without trust": Case(
        f"{STRESS} --model m.joblib", ["reading a pickle runs any code", "--trust"], {"m.joblib": b"x"}
    ),
    "no folder of a transformer": Case(f"{TRAIN} --model empty", ["not a folder of a transformer"], {"empty": None}),
    "a parameter it does not take": Case(f"{TRAIN} --model neural --set epoch=3", ["'epoch'", "'epochs'"]),
    "a setting without a value": Case(f"{TRAIN} --set epochs", ["NAME=VALUE"]),
    "an impossible setting": Case(f"{TRAIN} --model neural --set epochs=0", ["epochs must be at least 1"]),
    "a folder of other things": Case(
        f"{TRAIN} --model logistic -o data", ["holds other things than a model"], {"data/x.txt": b"x"}
    ),
    "not there": Case(f"{PREDICT} --model ./nothing", ["there is no model"]),
    "predictions are no model": Case(f"{PREDICT} --model p.csv", ["a file of predictions"], {"p.csv": b"id"}),
    "a file of no known kind": Case(f"{PREDICT} --model neural -o out.txt", [".csv nor .parquet"]),
}

JOBS = {
    "seeds": Case(f"{STRESS} --model neural --seeds 1,x", ["whole numbers", "'1,x'"]),
    "a gate turned round": Case(f"{STRESS} --model neural --gate 'fall.f1.macro=<0.2'", ["is not a gate", "<="]),
    "a gate without its metric": Case(f"{STRESS} --model neural --gate 'fall<=0.2' --plan", ["one of fall.accuracy"]),
    "a gate on nothing": Case(f"{STRESS} --model neural --gate 'fal.f1.macro<=0.2'", ["fal.f1.macro"]),
    "a bare F1": Case(f"{STRESS} --model neural --metric f1", ["f1.macro"]),
    "too many folds": Case(f"{STRESS} --model neural --seen-folds 6", ["seen_folds must be from 0 to 5, not 6"]),
    "no split of others": Case(
        f"{STRESS} --model neural --split none.csv", ["there is no file none.csv", "check the path"]
    ),
    "a split of other data": Case(
        f"{STRESS} --model neural --split a.csv",
        ["a.csv", "rows that posts does not have"],
        {"a.csv": b"id,part\nx,test\n"},
    ),
    "no predictions": Case(
        f"model score posts.csv none.csv {COLUMNS}", ["there is no file none.csv", "check the path"]
    ),
    "empty predictions": Case(
        f"model score posts.csv none.csv {COLUMNS}", ["none.csv is empty", "a column id"], {"none.csv": b""}
    ),
    "no random split": Case(f"{STRESS} --model neural --with closest", ["against random splits"]),
    "a split that reads a column": Case(
        f"{STRESS} --model neural --with random,time", ["'time'", "reads an attribute"]
    ),
    "mistyped split": Case(f"{STRESS} --model neural --with random,closets", ["did you mean 'closest'?"]),
    "mistyped budget": Case(f"{STRESS} --model neural --budget smal", ["did you mean 'small'?"]),
    "mistyped representation": Case(f"{STRESS} --representation bottleneck50", ["'bottleneck-50'"]),
    "no such slice": Case(f"{STRESS} --model neural --slice usr", ["usr"]),
    "no such label": Case(f"{STRESS} --model neural --neutral clam", ["did you mean 'calm'?"]),
    "the independent file is not there": Case(f"{STRESS} --model neural --independent no.csv", ["no.csv"]),
    "all rows set aside": Case(f"{STRESS} --model neural --independent 1.0", ["share below 1"]),
    "a folder of other things": Case(
        f"{STRESS} --model neural", ["holds other things than a run"], {"run/x.txt": b"x"}
    ),
    "report of no run": Case("runs report nothing", ["there is no run folder"]),
    "report of half a run": Case(
        "runs report run", ["not the folder of a run", "run.json is missing"], {"run/x.txt": b"x"}
    ),
}

CASES = {
    f"{kind}: {name}": case
    for kind, cases in {
        "table": TABLES, "vectors": VECTORS, "size": SIZES, "groups": GROUPS, "name": NAMES, "output": OUTPUTS,
        "split": SPLITS, "model": MODELS, "job": JOBS,
    }.items()
    for name, case in cases.items()
}  # fmt: skip


def everything(folder: Path) -> dict[str, bytes | None]:
    """All that is in a folder, at any depth."""
    return {str(each.relative_to(folder)): each.read_bytes() if each.is_file() else None for each in folder.rglob("*")}


@pytest.fixture
def prepare(folder: Path, write_posts: Callable[..., Path], unseen: Callable[..., Any]) -> Callable[[Case], None]:
    """Puts the files of a case in place and runs the commands before it."""

    def put(name: str, content: Any) -> None:
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        if content is None:
            path.mkdir()
        elif isinstance(content, bytes):
            path.write_bytes(content)
        elif isinstance(content, np.ndarray):
            np.save(path, content)
        elif isinstance(content, int):
            write_posts(path, content)
        else:
            write_posts(path, edit=content)

    def replace(name: str, old: str, new: str) -> None:
        content = (folder / name).read_bytes()
        assert old.encode() in content
        (folder / name).write_bytes(content.replace(old.encode(), new.encode(), 1))

    def prepared(case: Case) -> None:
        for name, content in case.files.items():
            put(name, content)
        for step in case.before:
            if isinstance(step, tuple):
                replace(*step)
            else:
                assert unseen(*shlex.split(step)).code == 0

    return prepared


def check(case: Case, answer: Any) -> None:
    code, out, err = answer
    assert code == 2
    assert out == ""
    assert "Traceback" not in err
    flat = " ".join(err.replace("│", " ").split())
    for fragment in case.fragments:
        assert fragment in err or fragment in flat


@pytest.mark.parametrize("name", CASES)
def test_bad_input_is_one_message_and_nothing_written(
    name: str, folder: Path, prepare: Callable[[Case], None], unseen: Callable[..., Any]
) -> None:
    case = CASES[name]
    prepare(case)
    before = everything(folder)
    check(case, unseen(*shlex.split(case.command)))
    assert everything(folder) == before


@pytest.mark.parametrize(
    "name",
    [
        "table: missing column", "table: bad UTF-8", "table: a folder", "vectors: NaN", "size: test 1.5",
        "groups: every group too large", "output: a folder", "split: tampered with",
    ],
)  # fmt: skip
def test_bad_input_through_the_real_program(
    name: str, folder: Path, prepare: Callable[[Case], None], forked: Callable[..., Any]
) -> None:
    case = CASES[name]
    prepare(case)
    before = everything(folder)
    answer = forked(*shlex.split(case.command), cwd=folder)
    check(case, answer)
    assert answer.err.startswith("error: ")
    assert everything(folder) == before


@pytest.mark.parametrize("name", ["split", "vectors"])
def test_a_disk_that_is_full(name: str, folder: Path, program: Callable[..., Any]) -> None:
    commands = {
        "split": "split make sample --with random -q -o big.csv",
        "vectors": "model encode sample -q -o big.npy",
    }

    def small_files() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))

    before = everything(folder)
    # bytecode and compiled kernels would hit the limit too
    nowhere = os.environ | {"PYTHONDONTWRITEBYTECODE": "1"}
    answer = program(*commands[name].split(), cwd=folder, preexec_fn=small_files, env=nowhere)
    check(Case("", ["error: a file could not be written or read", "what to do: look at the space"]), answer)
    assert everything(folder) == before


def test_a_byte_order_mark_is_no_mistake(folder: Path, unseen: Callable[..., Any]) -> None:
    posts = folder / "posts.csv"
    plain = unseen(*shlex.split(f"{RANDOM} -o plain.csv"))
    posts.write_bytes(b"\xef\xbb\xbf" + posts.read_bytes())
    marked = unseen(*shlex.split(f"{RANDOM} -o marked.csv"))
    assert plain.code == marked.code == 0
    assert (folder / "plain.csv").read_bytes() == (folder / "marked.csv").read_bytes()


def test_one_group_too_large_is_no_mistake_when_others_fit(
    folder: Path, write_posts: Callable[..., Path], unseen: Callable[..., Any]
) -> None:
    write_posts(folder / "posts.csv", edit=lambda number, row: {"user": "big"} if number < 40 else {})
    answer = unseen(*shlex.split(f"split make posts.csv {COLUMNS} --with grouped --groups user -o g.csv"))
    assert answer.code == 0
    assert "groups: 5 by user, the largest has 40 rows, 0 on both sides" in answer.out
    lines = (folder / "g.csv").read_text().splitlines()[1:]
    assert {line.split(",")[1] for line in lines[:40]} == {"train"}
    assert [line.split(",")[1] for line in lines].count("test") == 5


def test_a_column_with_the_name_of_a_file_is_still_a_column(folder: Path, unseen: Callable[..., Any]) -> None:
    (folder / "user").mkdir()
    (folder / "source").write_text("")
    assert unseen(*shlex.split(f"split make posts.csv {COLUMNS} --with grouped --groups user -o g.csv")).code == 0
    by_source = f"split make posts.csv {COLUMNS} --with attribute --by source --values app -o a.csv"
    assert unseen(*shlex.split(by_source)).code == 0


def test_control_characters_never_reach_the_terminal(
    folder: Path, write_posts: Callable[..., Path], unseen: Callable[..., Any]
) -> None:
    loud = "\x1b[2Jlo\u202eud"
    write_posts(folder / "posts.csv", edit=lambda number, row: {"label": loud} if row["label"] == "loud" else {})
    made = unseen(*shlex.split(f"{RANDOM} -o hard.csv"))
    assert made.code == 0
    assert r"\x1b[2Jlo\u202eud" in made.out
    (folder / "hard.csv").write_text("id,part,cluster\n\x1b[2J,x,y\n")
    refused = unseen(*shlex.split(ANALYSE))
    assert r"line 2: \x1b[2J,x,y" in refused.err
    assert "\x1b" not in made.out + refused.err


@pytest.mark.parametrize(("text", "number"), [("0.25", 0.25), ("2", 2), ("500", 500), ("30.0", 30), (" 1e-2", 0.01)])
def test_sizes_as_typed(text: str, number: float) -> None:
    assert size(text, "--test") == number


@pytest.mark.parametrize(
    ("text", "numbers"), [("3-6", [3, 4, 5, 6]), ("20", [20]), ("5, 10 ,20", [5, 10, 20]), ("2-3,7", [2, 3, 7])]
)
def test_numbers_of_clusters_as_typed(text: str, numbers: list[int]) -> None:
    assert numbers_of_clusters(text) == numbers


def test_a_folder_that_may_not_be_written_to(tmp_path: Path) -> None:
    for each in (tmp_path, *list(tmp_path.parents)[:3]):
        each.chmod(0o755)
    locked = tmp_path / "locked"
    locked.mkdir(mode=0o555)
    root = os.geteuid() == 0
    try:
        if root:
            os.seteuid(65534)
        with pytest.raises(InputError, match=r"cannot write .*deep/hard\.csv: .*locked may not be written to"):
            check_target(locked / "deep" / "hard.csv", ".csv")
    finally:
        if root:
            os.seteuid(0)
