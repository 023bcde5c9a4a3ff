"""Checks of data and splits, one question each."""

from unseen.registry import Registry

CHECKS = Registry(
    "check",
    {
        "exact_duplicates.v1": "unseen.audits.checks.copies:exact_duplicates",
        "normalised_duplicates.v1": "unseen.audits.checks.copies:normalised_duplicates",
        "near_duplicates.v1": "unseen.audits.checks.copies:near_duplicates",
        "semantic_neighbours.v1": "unseen.audits.checks.copies:semantic_neighbours",
        "conflicting_labels.v1": "unseen.audits.checks.copies:conflicting_labels",
        "copied_items.v1": "unseen.audits.checks.copies:copied_items",
        "author.v1": "unseen.audits.checks.attributes:author",
        "conversation.v1": "unseen.audits.checks.attributes:conversation",
        "template.v1": "unseen.audits.checks.attributes:template",
        "partner.v1": "unseen.audits.checks.attributes:partner",
        "source.v1": "unseen.audits.checks.attributes:source",
        "time_order.v1": "unseen.audits.checks.attributes:time_order",
        "class_mix.v1": "unseen.audits.checks.parts:class_mix",
        "sizes.v1": "unseen.audits.checks.parts:sizes",
        "text_lengths.v1": "unseen.audits.checks.parts:text_lengths",
        "author_concentration.v1": "unseen.audits.checks.attributes:author_concentration",
        "baselines.v1": "unseen.audits.checks.parts:baselines",
    },
)

__all__ = ["CHECKS"]
