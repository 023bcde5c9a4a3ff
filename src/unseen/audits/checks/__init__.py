"""Checks of data and splits, one question each."""

from unseen.registry import Registry

CHECKS = Registry(
    "check",
    {
        "exact_duplicates.v1": "unseen.audits.checks.duplicates:exact_duplicates",
        "normalised_duplicates.v1": "unseen.audits.checks.duplicates:normalised_duplicates",
        "near_duplicates.v1": "unseen.audits.checks.duplicates:near_duplicates",
        "semantic_neighbours.v1": "unseen.audits.checks.duplicates:semantic_neighbours",
        "conflicting_labels.v1": "unseen.audits.checks.conflicts:conflicting_labels",
        "copied_items.v1": "unseen.audits.checks.copies:copied_items",
        "author.v1": "unseen.audits.checks.groups:author",
        "conversation.v1": "unseen.audits.checks.groups:conversation",
        "template.v1": "unseen.audits.checks.groups:template",
        "partner.v1": "unseen.audits.checks.groups:partner",
        "source.v1": "unseen.audits.checks.groups:source",
        "time_order.v1": "unseen.audits.checks.time_order:time_order",
        "class_mix.v1": "unseen.audits.checks.drift:class_mix",
        "sizes.v1": "unseen.audits.checks.drift:sizes",
        "text_lengths.v1": "unseen.audits.checks.drift:text_lengths",
        "author_concentration.v1": "unseen.audits.checks.authors:author_concentration",
        "baselines.v1": "unseen.audits.checks.baselines:baselines",
    },
)

__all__ = ["CHECKS"]
