"""Any labelled texts as a suite: originals, and versions of them that should change nothing, or only so much.

A version refers to its original and has its template, so that the two are drawn together. What is measured on it is
whether the prediction stays (invariance), moves as expected (directional), or is right (functional); a version
presupposes that the change keeps the label, and only reading some of them shows whether it does.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from unseen.errors import InputError
from unseen.functional.perturbations import PERTURBATIONS
from unseen.functional.suite import KINDS, check_expectation, suite_of
from unseen.functional.suite import ORIGINAL as ORIGINALS
from unseen.registry import check_parameters, require_known
from unseen.seeding import generator
from unseen.types import Dataset, Origin

Alteration = Callable[[str, str], str | None]
"""Of the id and the text of a case; None where it does not apply."""
ORIGINAL = ORIGINALS[-1]
APPENDED = "appended"


def perturbation(name: str, *, focus: Sequence[str] = (), seed: int = 42) -> Alteration:
    """The perturbation `name`, drawn for each id on its own: the order of rows does not matter.

    A perturbation that gives back what it was given counts as one that does not apply.
    """
    function = PERTURBATIONS.get(name)
    if not callable(function):
        raise InputError(f"the perturbation {name!r} cannot be called", got=type(function).__name__)
    options: dict[str, Any] = {"focus": tuple(focus)} if focus else {}
    check_parameters(f"the perturbation {name!r}", function, options)
    _check_role(name, function)
    full_name = PERTURBATIONS.full_name(name)

    def alter(case: str, text: str) -> str | None:
        perturbed = function(text, generator(seed, full_name, case), **options)
        if perturbed is not None and not isinstance(perturbed, str):
            raise InputError(f"the perturbation {name!r} gave {type(perturbed).__name__}", expected="a text, or None")
        return perturbed if perturbed != text else None

    return alter


def _check_role(name: str, function: Any) -> None:
    """Refuse what is not called with a text and a generator, and with no more than that."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except ValueError:  # some builtin functions tell nothing about themselves
        parameters = []
    positional = [one for one in parameters if one.kind is one.POSITIONAL_OR_KEYWORD]
    if sum(one.default is one.empty for one in positional) != 2:
        raise InputError(f"{name!r} is not a perturbation", expected="a function of a text and a NumPy generator")


def addition(sentence: str) -> Alteration:
    """Adds a sentence at the end; a space is put before it when neither side has one."""
    if not sentence.strip():
        raise InputError("there is nothing to append", got=repr(sentence))

    def alter(case: str, text: str) -> str:
        apart = text[-1:].isspace() or sentence[:1].isspace()
        return f"{text}{'' if apart else ' '}{sentence}"

    return alter


def altered_suite(
    data: Dataset,
    alterations: Mapping[str, Alteration],
    *,
    kind: str = "invariance",
    expect: str | None = None,
    most: int | None = None,
    seed: int = 42,
) -> Dataset:
    """A suite of originals and their versions, one per alteration that applies; alterations have names.

    Originals to which none applies are left out; `most` draws so many of the others, some of each label. The
    functionality of a version is the name of its alteration, that of an original is `original`.
    """
    _check(data, alterations, kind, expect, most)
    ids, texts, labels = (data.table[name].to_pylist() for name in ("id", "text", "label"))
    cases: dict[int, list[dict[str, str | None]]] = {}
    for row in range(len(data)) if most is None else _drawn(data, seed):
        if len(cases) == most:
            break
        original = {"id": ids[row], "text": texts[row], "label": labels[row], "template": ids[row]}
        if versions := list(_versions(original, alterations)):
            judged = [version | {"kind": kind, "expect": expect} for version in versions]
            cases[row] = [original | {"functionality": ORIGINAL, "kind": KINDS[0]}, *judged]
    if not cases:
        raise InputError(f"none of {', '.join(alterations)} applies to any text of {data.name}")
    params = {"alterations": list(alterations), "kind": kind, "expect": expect, "most": most}
    origin = Origin("alter", params, seed, {"data": data.fingerprint})
    in_order = [case for row in sorted(cases) for case in cases[row]]
    return suite_of(f"{data.name}-altered", in_order, data.label_names, origin)


def _drawn(data: Dataset, seed: int) -> list[int]:
    """Rows in an order that depends on the seed and the ids alone: the first of each label, then the others."""
    order = generator(seed, "originals").permutation(data.by_id)
    first = np.sort(np.unique(data.labels[order], return_index=True)[1])
    return [*order[first].tolist(), *np.delete(order, first).tolist()]


def _versions(original: Mapping[str, str], alterations: Mapping[str, Alteration]) -> Iterator[dict[str, str | None]]:
    for name, alter in alterations.items():
        text = alter(original["id"], original["text"])
        if text is not None and text.strip():
            changed = {"id": f"{original['id']}-{name}", "text": text, "functionality": name}
            yield {**original, **changed, "reference": original["id"]}


def _check(
    data: Dataset, alterations: Mapping[str, Alteration], kind: str, expect: str | None, most: int | None
) -> None:
    require_known("kind of case", KINDS, kind)
    if not alterations:
        raise InputError("there is no alteration", expected=f"some of {', '.join(PERTURBATIONS)}, or a text to append")
    if ORIGINAL in alterations:
        raise InputError(f"an alteration cannot be called {ORIGINAL!r}: the originals are")
    if (expect is not None) != (kind == "directional"):
        raise InputError(
            "a directional case, and no other, has an expectation", expected="kind='directional', expect='up LABEL'"
        )
    if expect is not None:
        check_expectation(expect, data.label_names)
    if most is not None and most < len(data.label_names):
        raise InputError("every label needs an original", expected=f"{len(data.label_names)} or more", got=str(most))
