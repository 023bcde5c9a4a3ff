"""What people and programs can do to a model: texts changed until it errs, and whether the change keeps the label.

::

    texts that the model gets right -> a recipe searches changes (search.py), candidates from a source (sources.py)
      -> flipped or not, with every query counted
      -> validity: does the changed text still deserve its label? by checks (validity.py), by people (ratings.py)
"""

from __future__ import annotations

from unseen.registry import Registry

ATTACKS = Registry(
    "attack",
    {
        "characters.v1": "unseen.attacks.characters:Characters",
        "pwws.v1": "unseen.attacks.recipes:Pwws",
        "pwws-synonyms.v1": "unseen.attacks.recipes:PwwsSynonyms",
        "textfooler.v1": "unseen.attacks.recipes:TextFooler",
        "textfooler-minilm.v1": "unseen.attacks.recipes:TextFoolerMiniLM",
        "bae.v1": "unseen.attacks.recipes:Bae",
        "bae-minilm.v1": "unseen.attacks.recipes:BaeMiniLM",
    },
    ("search",),
    {"textfooler-minilm.v1": "models", "bae.v1": "models", "bae-minilm.v1": "models"},
)

__all__ = ["ATTACKS"]
