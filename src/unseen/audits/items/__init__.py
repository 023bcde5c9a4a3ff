"""Item validity: rules that flag texts which are not what the task means, and how right the rules are."""

from unseen.audits.items.agreement import annotator_agreement, cohen_kappa
from unseen.audits.items.flags import Flags, RuleName, flag_items, read_flags, write_flags
from unseen.audits.items.hand_labels import Gold, hand_label_findings, measure_rules, read_gold
from unseen.audits.items.packs import DEFAULT_PACKS, RULE_PACKS
from unseen.audits.items.rule import Items, Rule
from unseen.audits.items.rule_report import rule_findings, rule_report

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
