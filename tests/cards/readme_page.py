"""A README in the form of the Hugging Face hub, written by hand."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

HUB = Path(str(importlib.util.find_spec("huggingface_hub").origin)).parent  # type: ignore[union-attr]
TEMPLATE = re.findall(
    r"<!--\s*(.*?)\s*-->", (HUB / "templates" / "datasetcard_template.md").read_text(encoding="utf-8")
)
"""What the template of the hub tells the author of a card, section by section."""
PROSE = max(TEMPLATE, key=len)

HEADER = """---
pretty_name: Kitchen talk
license: cc-by-4.0
language:
- no
tags: [recipes]
task_categories:
- text-classification
dataset_info:
  features:
  - name: text
    dtype: string
  - name: label
    dtype:
      class_label:
        names:
          '0': calm
          '1': loud
  splits:
  - name: train
    num_examples: 50
  - name: test
    num_examples: 10
---
"""

BODY = """# Dataset Card for Kitchen talk

## Dataset Description

- **Homepage:** https://example.org/kitchen
- **Repository:** [Needs More Information]

### Dataset Summary

Short remarks that cooks in three canteens made during one summer.

### Supported Tasks and Leaderboards

[More Information Needed]

## Dataset Structure

### Data Fields

- text: the remark

## Dataset Creation

### Curation Rationale

PROSE

### Source Data

#### Initial Data Collection and Normalization

Two people wrote the remarks down and removed names.

#### Who are the source language producers?

Cooks between 20 and 60 years of age, most of them trained in one school.

### Annotations

#### Annotation process

Two people wrote the remarks down and removed names.

#### Who are the annotators?

<!-- nobody remembers -->

### Personal and Sensitive Information

First names were replaced.

## Considerations for Using the Data

### Social Impact of Dataset

It helps to build assistants that are fairer to tired people. It encourages work on languages other than English.
Readers are exposed to offensive remarks. Opinions vary.

### Discussion of Biases

Only canteens of one town are represented.

### Other Known Limitations

The dataset is small. It covers one language only.

## Additional Information

### Dataset Curators

Ada Lovelace, Example University

### Licensing Information

Free for everybody

### Citation Information

```
# Not a heading
@misc{kitchen}
```

### Contributions

Thanks to [@somebody](https://example.org/somebody) for adding this dataset.
""".replace("PROSE", PROSE)
