"""Item validity: rules that flag texts which are not what the task means, and how right the rules are."""

from unseen.audits.items.flags import Flags, RuleName, flag_items, read_flags, rule_findings, rule_report, write_flags
from unseen.audits.items.hand_labels import (
    Gold,
    annotator_agreement,
    cohen_kappa,
    hand_label_findings,
    measure_rules,
    read_gold,
)
from unseen.audits.items.rule import DEFAULT_PACKS, RULE_PACKS, Items, Rule

__all__ = [
    "DEFAULT_PACKS",
    "RULE_PACKS",
    "Flags",
    "Gold",
    "Items",
    "Rule",
    "RuleName",
    "annotator_agreement",
    "cohen_kappa",
    "flag_items",
    "hand_label_findings",
    "measure_rules",
    "read_flags",
    "read_gold",
    "rule_findings",
    "rule_report",
    "write_flags",
]
