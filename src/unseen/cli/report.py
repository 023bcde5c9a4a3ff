"""`unseen report`: the page of a run, written again from its folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from unseen.cli.console import Json, Quiet, print_json, say


def report(
    run: Annotated[Path, typer.Argument(help="Folder of any run, -o of the command.")],
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Write report.html again from the files of a run folder, and print the verdict.

    Example: unseen report out
    """
    from unseen.reports.kinds import kind_of

    write = WRITERS.get(kind_of(run) or "", _of_stress)
    page, level, said = write(run)
    if as_json:
        print_json({"report": page, "level": level, "verdict": said})
    else:
        say("\n".join([*said, "", f"report: {page}"]))


def _of_stress(run: Path) -> tuple[Path, str, list[str]]:
    from unseen.reports.actions import write_actions
    from unseen.reports.run import read_run
    from unseen.reports.stress_page import write_stress_page
    from unseen.reports.verdict import verdict

    found = read_run(run)
    write_actions(found)
    said = verdict(found)
    return write_stress_page(found), said.level, said.lines()


def _of_study(run: Path) -> tuple[Path, str, list[str]]:
    from unseen.reports.study import read_study_run
    from unseen.reports.study_page import write_study_page
    from unseen.reports.study_tables import headline

    page = write_study_page(run)
    found = read_study_run(run)
    return page, "fail" if found.about.get("failures") else "ok", headline(found)


def _of_check(run: Path) -> tuple[Path, str, list[str]]:
    from unseen.reports.behaviour import behaviours, headline, kinds_of_failure
    from unseen.reports.check_page import level, write_check_page
    from unseen.store import read_json, read_measurements

    page = write_check_page(run)
    found = behaviours(read_measurements(run / "measurements.csv"))
    said = [headline(each, model) for each in found for model in each.models]
    said += [sentence for each in found for sentence in kinds_of_failure(each)]
    return page, level(found, read_json(run / "run.json").get("gates", [])), said


def _of_audit(run: Path) -> tuple[Path, str, list[str]]:
    from unseen.reports.audit_page import verdict, write_audit_page
    from unseen.store import read_findings

    page = write_audit_page(run)
    level, *said = verdict(read_findings(run / "findings.csv"))
    return page, level, said


def _of_learning(run: Path) -> tuple[Path, str, list[str]]:
    from unseen.reports.learning_page import write_learning_page

    page, verdict = write_learning_page(run)
    return page, verdict.level, [verdict.headline, *verdict.sentences]


def _of_transfer(run: Path) -> tuple[Path, str, list[str]]:
    from unseen.reports.transfer_page import write_transfer_page

    page, verdict = write_transfer_page(run)
    return page, verdict.level, [verdict.headline, *verdict.sentences]


def _of_price(run: Path) -> tuple[Path, str, list[str]]:
    from unseen.reports.price_page import price_section, write_price_page
    from unseen.store import read_findings, read_json, read_measurements

    page = write_price_page(run)
    metric = str(read_json(run / "run.json")["settings"]["metric"])
    found = price_section(read_measurements(run / "measurements.csv"), read_findings(run / "findings.csv"), metric)
    return page, found["level"], found["headlines"]


def _of_authors(run: Path) -> tuple[Path, str, list[str]]:
    from unseen.reports.author_page import author_section, write_author_page
    from unseen.store import read_findings, read_measurements

    page = write_author_page(run)
    found = author_section(read_measurements(run / "measurements.csv"), read_findings(run / "findings.csv"))
    return page, found["level"], [each.message for each in found["findings"]]


def _of_item_effect(run: Path) -> tuple[Path, str, list[str]]:
    from unseen.reports.item_effect_page import effect_level, headline, write_item_effect_page
    from unseen.store import read_findings

    page, findings = write_item_effect_page(run), read_findings(run / "findings.csv")
    return page, effect_level(findings), headline(findings)


def _of_validation(run: Path) -> tuple[Path, str, list[str]]:
    from unseen.reports.validation_page import write_validation_page

    page, verdict = write_validation_page(run)
    return page, verdict.level, [verdict.headline, *verdict.sentences]


WRITERS = {
    "study": _of_study,
    "check": _of_check,
    "learning": _of_learning,
    "audit": _of_audit,
    "pipeline-audit": _of_audit,
    "transfer": _of_transfer,
    "price": _of_price,
    "authors": _of_authors,
    "item-effect": _of_item_effect,
    "validation": _of_validation,
}
"""By the kind that run.json names; that of a stress run names none."""
