"""Bias: the same numbers for every group of people that texts mention, and what changes when the group does."""

from unseen.subgroups.group_table import group_measurements
from unseen.subgroups.groups import Groups, groups_by_attribute, groups_by_terms, read_terms
from unseen.subgroups.measurements import TaggedRows, bias_measurements, parts_of_splits
from unseen.subgroups.subgroup import BACKGROUNDS, generalised_mean, subgroup_measurements
from unseen.subgroups.swaps import swap_cases, swap_measurements

__all__ = [
    "BACKGROUNDS",
    "Groups",
    "TaggedRows",
    "bias_measurements",
    "generalised_mean",
    "group_measurements",
    "groups_by_attribute",
    "groups_by_terms",
    "parts_of_splits",
    "read_terms",
    "subgroup_measurements",
    "swap_cases",
    "swap_measurements",
]
