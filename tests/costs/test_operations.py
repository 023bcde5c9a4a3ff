"""Operations and tokens against counts by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from tiny_transformer import write_tiny_bert
from unseen.costs.operations import counted_by_torch, operations, token_counts, training_tokens
