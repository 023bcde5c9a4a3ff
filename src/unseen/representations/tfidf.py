"""TF-IDF reduced by a truncated singular value decomposition: needs nothing but the texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass

import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_limits

from unseen.errors import InputError
from unseen.seeding import child_seed


@dataclass(eq=False)
class TfidfEncoder:
    """Latent semantic analysis of the texts it is given; fitted anew for each call.

    The vectors know about words, not about a task or a model: splits made with them are milder than
    those from a fine-tuned model's own space. A text without any known word gets the mean vector.
    """

    dimensions: int = 50
    _: KW_ONLY
    max_features: int = 50_000
    seed: int = 42

    def encode(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """One vector per text; the same on one thread and on many."""
        from sklearn.decomposition import TruncatedSVD
        from sklearn.feature_extraction.text import TfidfVectorizer

        if self.dimensions < 1:
            raise InputError("dimensions must be at least 1", got=repr(self.dimensions))
        min_df = 2 if len(texts) >= 200 else 1
        weigh = TfidfVectorizer(sublinear_tf=True, min_df=min_df, max_features=self.max_features, dtype=np.float32)
        try:
            weighted = weigh.fit_transform(texts)
        except ValueError as cause:
            raise InputError("the texts share no words, so they cannot be encoded by TF-IDF") from cause
        dimensions = min(self.dimensions, min(weighted.shape) - 1)
        if dimensions < 1:
            raise InputError(
                "too few texts or words for TF-IDF", got=f"{weighted.shape[0]} texts, {weighted.shape[1]} words"
            )
        with threadpool_limits(1, user_api="blas"):
            reduce = TruncatedSVD(dimensions, random_state=child_seed(self.seed, "svd"))
            vectors = np.asarray(reduce.fit_transform(weighted), dtype=np.float32)
        unknown = ~vectors.any(axis=1)
        vectors[unknown] = vectors[~unknown].mean(axis=0, dtype=np.float64)
        return vectors
