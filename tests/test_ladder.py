"""The layout of src: imports point up the ladder, there are no cycles, and names say what they hold."""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[1] / "src" / "unseen"

LADDER = [
    "release",
    "errors",
    "redaction",
    "types",
    "roles",
    "registry",
    "seeding",
    "progress",
    "machine",
    "label_maps",
    "store",
    "engines",
    "inference",
    "data",
    "representations",
    "splits",
    "duplicates",
    "training",
    "models",
    "evaluation",
    "costs",
    "result_tables",
    "functional",
    "subgroups",
    "forecasts",
    "explanations",
    "audits",
    "attacks",
    "repairs",
    "cards",
    "analysis",
    "reports",
    "naming",
    "corpora",
    "api",
    "runs",
    "viewer",
    "file_schemas",
    "__init__",
    "cli",
    "__main__",
]

NAMELESS = {"util", "utils", "helper", "helpers", "common", "base", "manager", "managers", "misc"}

Imports = dict[str, dict[str, int]]
"""Module -> modules of the package that it imports -> line of the import."""


def modules_of(root: Path) -> dict[str, Path]:
    """Dotted names of the modules under `root`; a package is its __init__.py."""
    found = {}
    for path in sorted(root.rglob("*.py")):
        parts = (root.name, *path.relative_to(root).with_suffix("").parts)
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imported_names(path: Path, package: str) -> Iterator[tuple[list[str], int]]:
    """What each import anywhere in the file may mean, the most exact first."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (([alias.name], node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            module = ".".join([*above, *filter(None, [node.module])])
            yield from (([f"{module}.{alias.name}", module], node.lineno) for alias in node.names)


def imports_of(root: Path) -> Imports:
    modules = modules_of(root)
    graph: Imports = {name: {} for name in modules}
    for name, path in modules.items():
        package = name if path.name == "__init__.py" else name.rpartition(".")[0]
        for meanings, line in imported_names(path, package):
            ours = [each for each in meanings if each.split(".")[0] == root.name]
            if ours:
                exact = next((each for each in ours if each in modules), ours[-1])
                graph[name].setdefault(exact, line)
    return graph


def rung(module: str) -> str:
    return module.split(".")[1] if "." in module else "__init__"


def imports_down(root: Path) -> list[str]:
    """Modules that have no rung, and imports that point down the ladder."""
    graph = imports_of(root)
    problems = [f"{name} is not on the ladder" for name in graph if rung(name) not in LADDER]
    for name, imported in graph.items():
        for other, line in imported.items():
            known = rung(name) in LADDER and rung(other) in LADDER
            if known and LADDER.index(rung(other)) > LADDER.index(rung(name)):
                problems.append(f"{name}:{line} imports {other}, which is below it")
    return problems


def cycles(root: Path) -> list[set[str]]:
    """Groups of modules that reach each other by imports, by Tarjan's algorithm."""
    graph, found, stack = imports_of(root), [], []
    number: dict[str, int] = {}
    low: dict[str, int] = {}

    def visit(name: str) -> None:
        number[name] = low[name] = len(number)
        stack.append(name)
        for other in graph.get(name, {}):
            if other not in number:
                visit(other)
            if other in stack:
                low[name] = min(low[name], low[other])
        if low[name] == number[name]:
            group = set(stack[stack.index(name) :])
            del stack[stack.index(name) :]
            if len(group) > 1 or name in graph.get(name, {}):
                found.append(group)

    for name in graph:
        if name not in number:
            visit(name)
    return found


def nameless(root: Path) -> list[str]:
    """Files and folders whose name is no concept."""
    return [name for name in modules_of(root) if NAMELESS & set(name.split("."))]


def shared_class_names(root: Path) -> list[str]:
    """Names that stand for several classes."""
    places: dict[str, list[str]] = {}
    for name, path in modules_of(root).items():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                places.setdefault(node.name, []).append(name)
    return [f"{name}: {', '.join(where)}" for name, where in places.items() if len(where) > 1]


def looks_like_tests(root: Path) -> list[str]:
    """Modules, functions, classes and module-level names that pytest would take for tests."""
    found = []
    for name, path in modules_of(root).items():
        tree = ast.parse(path.read_text(encoding="utf-8"))
        defined = [name.rpartition(".")[2]]
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                defined.append(node.name)
        for node in tree.body:
            targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
            defined += [target.id for target in targets if isinstance(target, ast.Name)]
        found += [f"{name}: {each}" for each in defined if each.startswith(("test_", "Test"))]
    return found


def missing_exports(root: Path) -> list[str]:
    """Names in an `__all__` that importing its module does not give, or that stand there twice."""
    problems = []
    for name, path in modules_of(root).items():
        if "__all__" in path.read_text(encoding="utf-8"):
            module = importlib.import_module(name)
            exported = list(module.__all__)
            problems += [f"{name}: {each} is missing" for each in exported if not hasattr(module, each)]
            problems += [f"{name}: {each} twice" for each in sorted(set(exported)) if exported.count(each) > 1]
    return problems


def test_imports_point_up_the_ladder() -> None:
    assert imports_down(SOURCE) == []


def test_there_are_no_import_cycles() -> None:
    assert cycles(SOURCE) == []


def test_every_module_is_named_after_what_it_holds() -> None:
    assert nameless(SOURCE) == []


def test_one_name_stands_for_one_class() -> None:
    assert shared_class_names(SOURCE) == []


def test_nothing_in_the_library_looks_like_a_test() -> None:
    assert looks_like_tests(SOURCE) == []


def test_what_is_exported_exists() -> None:
    assert missing_exports(SOURCE) == []


def test_the_real_tree_is_what_was_checked() -> None:
    graph = imports_of(SOURCE)
    assert {"unseen.errors", "unseen.types", "unseen.store", "unseen.store.files"} <= graph.keys()
    assert "unseen.store.files" in graph["unseen.store.splits"]
    assert "unseen.types" in graph["unseen.store.splits"]


def tree(root: Path, files: dict[str, str]) -> Path:
    """A package at `root` of these modules; `{"store/splits": "…"}` is store/splits.py, with its store/__init__.py."""
    for name, content in files.items():
        path = root / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
        if path.parent != root:
            (path.parent / "__init__.py").touch()
    return root


@pytest.mark.parametrize(
    "line",
    [
        "import unseen.splits.closest",
        "import os, unseen.splits as s",
        "from unseen.splits.closest import x",
        "from unseen.splits import closest",
        "from unseen import splits",
        "from unseen.splits import *",
        "from unseen import load",
        "import unseen",
        "from ..splits import closest",
        "from .. import splits",
        "def f():\n    from unseen.splits import closest",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from unseen.splits import closest",
        "try:\n    import unseen.splits\nexcept ImportError:\n    pass",
        "class A:\n    def f(self):\n        import unseen.cli",
    ],
)
def test_an_import_that_points_down_is_seen(tmp_path: Path, line: str) -> None:
    root = tree(tmp_path / "unseen", {"errors": "", "splits/closest": "", "cli/main": "", "store/files": line})
    assert len(imports_down(root)) == 1
    assert imports_down(root)[0].startswith(f"unseen.store.files:{1 + line[: line.rindex('import ')].count(chr(10))} ")


@pytest.mark.parametrize(
    "line",
    [
        "import numpy.typing",
        "from unseen.errors import InputError",
        "from unseen import errors",
        "from .splits import x",
        "from . import splits",
        "from ..errors import x",
        "from unseen.store.splits import x",
        "from unseenly.cli import x",
    ],
)
def test_an_import_that_points_up_or_stays_is_fine(tmp_path: Path, line: str) -> None:
    root = tree(tmp_path / "unseen", {"errors": "", "store/splits": "", "splits/closest": "", "store/files": line})
    assert imports_down(root) == []
    assert cycles(root) == []


def test_a_module_without_a_rung_is_seen(tmp_path: Path) -> None:
    root = tree(tmp_path / "unseen", {"errors": "", "extras": "", "more/stuff": ""})
    assert imports_down(root) == [f"unseen.{name} is not on the ladder" for name in ("extras", "more", "more.stuff")]


def test_cycles_are_seen(tmp_path: Path) -> None:
    root = tree(
        tmp_path / "unseen",
        {
            "data/a": "from unseen.data.b import x",
            "data/b": "def f():\n    from .c import x",
            "data/c": "from . import a",
            "data/d": "from unseen.data import a",
            "store/a": "from unseen.store import name_of_the_package",
            "store/__init__": "from unseen.store.a import y",
            "types": "import unseen.types",
        },
    )
    expected = [
        {"unseen.data.a", "unseen.data.b", "unseen.data.c"},
        {"unseen.store", "unseen.store.a"},
        {"unseen.types"},
    ]
    assert sorted(map(sorted, cycles(root))) == sorted(map(sorted, expected))


def test_names_that_say_nothing_are_seen(tmp_path: Path) -> None:
    root = tree(tmp_path / "unseen", {"data/utils": "", "data/database": "", "splits/base/x": "", "commons": ""})
    assert nameless(root) == ["unseen.data.utils", "unseen.splits.base", "unseen.splits.base.x"]


def test_names_of_two_classes_are_seen(tmp_path: Path) -> None:
    inner = "def f():\n    class Plan: pass\n"
    root = tree(tmp_path / "unseen", {"data/a": "class Plan: pass\nclass Own: pass\n", "types": inner})
    assert shared_class_names(root) == ["Plan: unseen.data.a, unseen.types"]


def test_names_that_look_like_tests_are_seen(tmp_path: Path) -> None:
    root = tree(
        tmp_path / "unseen",
        {
            "data": "class TestSet: pass\ndef test_part(): pass\nTest = 1\ntest_rows: int = 1\n",
            "splits/test_it": "class A:\n    async def test_f(self): pass\n",
            "types": "def f(test_size=0.1):\n    test_rows = test_size\n    return test_rows\nattested = 1\n",
        },
    )
    assert sorted(looks_like_tests(root)) == [
        "unseen.data: Test",
        "unseen.data: TestSet",
        "unseen.data: test_part",
        "unseen.data: test_rows",
        "unseen.splits.test_it: test_f",
        "unseen.splits.test_it: test_it",
    ]


def test_exports_that_do_not_exist_are_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lazy = "__all__ = ['now', 'later', 'later', 'never']\nnow = 1\ndef __getattr__(name):\n"
    root = tree(
        tmp_path / "ladder_fake",
        {
            "__init__": lazy + "    if name == 'later': return 2\n    raise AttributeError(name)\n",
            "data/a": "__all__ = ['gone']",
        },
    )
    monkeypatch.syspath_prepend(tmp_path)
    assert missing_exports(root) == [
        "ladder_fake: never is missing",
        "ladder_fake: later twice",
        "ladder_fake.data.a: gone is missing",
    ]
