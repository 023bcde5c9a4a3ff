"""What of a published table cannot be right: its own numbers, recomputed from one another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from unseen.result_tables.arithmetic import Equation, NumberPlace, Repair, repairs, slips
from unseen.result_tables.relations import (
    Relation,
    Unexplained,
    exact_multiples,
    given_relations,
    inferred_relations,
)
from unseen.result_tables.table import ResultTable, printed_number
from unseen.types import Finding

CHECKS = {"mean": "average", "sum": "sum", "same": "differs", "share": "share", "ratio": "ratio"}
SLIP = "percent-less-one-gain"


def audit_tables(tables: Sequence[ResultTable], relations: str | Path | None = None) -> list[Finding]:
    """Findings about numbers that cannot follow from the others, whatever was rounded away.

    `relations` is a file that says how columns and rows hang together; besides, headers such as Avg, Δ or % are
    believed where most rows bear them out. A number that one reading explains is not held against another.
    """
    given = [] if relations is None else given_relations(relations, tables)
    tables = [table for table in tables if not table.is_large]
    inferred, unexplained = inferred_relations(tables)
    everything = [*given, *inferred]
    right = [equation for relation in everything for equation in relation.right]
    explained = {equation.target for equation in right}
    wrong: dict[NumberPlace, Equation] = {}
    for relation in everything:
        for equation in relation.wrong:
            if relation.given or equation.target not in explained:
                wrong.setdefault(equation.target, equation)
    mends = repairs([*wrong.values()], right)
    mended = {equation.target for mend in mends for equation in mend.equations}
    findings = [_repair(mend) for mend in mends]
    findings += [_wrong(equation) for target, equation in wrong.items() if target not in mended]
    return [*findings, *_scale_slips(everything), *_multiples(tables), *map(_unexplained, unexplained)]


def _finding(check: str, level: str, message: str, places: Sequence[NumberPlace], advice: str) -> Finding:
    return Finding(
        check, level, message, len(places), tuple(place.text for place in places), advice,
        tuple(place.location for place in places),
    )  # fmt: skip


def _repair(mend: Repair) -> Finding:
    place = mend.place
    also = " and ".join(f"{equation.target.text} ({_name(equation.target, place)})" for equation in mend.equations)
    return _finding(
        "one-slip", "fail",
        f"{place.called}: {place.text} cannot be right with {also}; {mend.value} would be right with all of them",
        [place, *(equation.target for equation in mend.equations if equation.target != place)],
        f"See whether {mend.value} was meant.",
    )  # fmt: skip


def _name(place: NumberPlace, beside: NumberPlace) -> str:
    """A place by what tells it apart from another."""
    if place.table is beside.table and place.row == beside.row:
        return place.table.columns[place.column]
    return place.table.last_label(place.row) if place.column == beside.column else place.called


def _wrong(equation: Equation) -> Finding:
    target, kind = equation.target, equation.kind
    if kind == "same":
        return _differing(equation)
    if (factor := equation.scaled()) is not None:
        scale = "a fraction where percent belong" if factor > 1 else "percent where a fraction belongs"
        message = f"{target.called}: {target.text} is {scale}: {equation.meaning} gives {equation.expected}"
        return _finding("scale-slip", "fail", message, [target], "Write all of them on one scale.")
    message = f"{target.called}: {target.text} is not {equation.meaning}, which gives {equation.expected}"
    slip = next(
        (text for text in slips(target.text) if (n := printed_number(text)) and equation.holds({target: n})), None
    )
    advice = f"See whether {slip} was meant." if slip else "See which of these numbers is wrong."
    level = "fail"
    if hint := _other_reference(equation):
        message, advice = f"{message}; {hint}", "Say which reference is meant."
    elif hint := _left_out(equation):
        level, message = "fail" if slip else "warn", f"{message}; {hint}"
        advice = f"See whether {slip} was meant, or say what is left out." if slip else "Say what is left out, and why."
    return _finding(CHECKS.get(kind.partition("-")[0], "gain"), level, message, [target], advice)


def _left_out(equation: Equation) -> str:
    """Of a mean, the one number without which it is right."""
    for operand in equation.operands if equation.kind == "mean" and len(equation.operands) > 2 else ():
        others = tuple(other for other in equation.operands if other is not operand)
        if replace(equation, operands=others).holds() and isinstance(operand, NumberPlace):
            return f"without {_name(operand, equation.target)} it is right"
    return ""


def _other_reference(equation: Equation) -> str:
    """Where a gain is over the best of several, the one that it was taken over instead."""
    for reference in equation.operands[1:] if len(equation.operands) > 2 and equation.kind not in CHECKS else ():
        one = replace(equation, operands=(equation.operands[0], reference))
        if one.holds() and isinstance(reference, NumberPlace):
            return f"over {reference.table.columns[reference.column]} alone it is right"
    return ""


def _differing(equation: Equation) -> Finding:
    target = equation.target
    other = next(place for place in equation.places[1:])
    message = f"{target.called}: {target.text} here, {other.text} in {other.location}"
    elsewhere = [
        other.table.label(row)
        for row in range(len(other.table.rows))
        if row != other.row
        and target.number is not None
        and Equation("same", target, (NumberPlace(other.table, row, other.column),)).holds()
    ]
    if elsewhere:
        message += f", where {target.text} is that of {elsewhere[0]}"
    return _finding("differs", "fail", message, [target, other], "Say which is right, and why they differ.")


def _scale_slips(relations: Sequence[Relation]) -> Iterator[Finding]:
    """Gains whose formula is that of fractions, given percent."""
    kinds: dict[tuple[int, int], set[str]] = {}
    for relation in relations:
        for equation in relation.right[:1]:
            kinds.setdefault((id(equation.target.table), equation.target.column), set()).add(equation.kind)
    for relation in relations:
        if not relation.right or relation.equations[0].kind != SLIP:
            continue
        first = relation.right[0]
        target = first.target
        if kinds[id(target.table), target.column] != {SLIP}:
            continue
        relative, removed = (replace(first, kind=f"{kind}-percent") for kind in ("relative-gain", "error-reduction"))
        yield _finding(
            "scale-slip", "fail",
            f"{target.table.columns[target.column]} is 100 · (new − ref) / (ref − 1) on {len(relation.right)} of "
            f"{len(relation.equations)} rows: the 1 is that of scores as fractions, the scores are in percent. "
            f"{target.called}: {target.text} is printed; the gain is {relative.expected} %, the share of error "
            f"removed {removed.expected} %",
            [equation.target for equation in relation.right[:3]],
            "Name the gain, and compute it from scores of one scale.",
        )  # fmt: skip


def _multiples(tables: Sequence[ResultTable]) -> Iterator[Finding]:
    for multiple in exact_multiples(tables):
        larger, smaller = multiple.larger, multiple.smaller
        column, other = larger.table.columns[larger.column], smaller.table.columns[smaller.column]
        both = larger.table is not smaller.table
        alike = both and column.casefold() == other.casefold()
        yield _finding(
            "exact-multiple", "fail" if alike else "warn",
            f"{column} is exactly {multiple.factor} × {other} of {smaller.table.file if both else 'the same table'} "
            f"on all {multiple.rows} rows",
            [larger, smaller],
            "See whether rows were counted several times, as joins do.",
        )  # fmt: skip


def _unexplained(promise: Unexplained) -> Finding:
    return Finding(
        "not-recomputable", "skipped", f"{promise.name} follows from no other numbers of the table", 1,
        (promise.name,), "Say what it is of, in a file of relations.", (f"{promise.table.file}:{promise.line}",),
    )  # fmt: skip
