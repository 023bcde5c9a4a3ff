"""The thesis's experiments E1 to E8 with what runs without a network: docs/results/thesis.md.

    python -m studies.thesis FOLDER [hatexplain] [stormfront] [smollm2]

Runs the small studies into FOLDER, resumably, and writes the page from those that are finished. The data is looked
for in $UNSEEN_DATA or in shared/data beside the checkout.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from benchmarks.setting import ROOT, data_folder, machine, table

from unseen.engines import Local
from unseen.reports.formats import Table, to_markdown
from unseen.reports.record import RunRecord, read_record
from unseen.reports.study_tables import correlation_table, costs, cross_model, overlaps, scores
from unseen.runs.study import run_study

STUDIES = {
    "hatexplain": "zuefle2023-hatexplain-small.toml",
    "stormfront": "stormfront-small.toml",
    "smollm2": "smollm2-small.toml",
}
E1 = [
    ["BERT-base", "68.3", "66.0", "83.6"],
    ["BERT-medium", "62.9", "60.2", "80.0"],
    ["HateBERT", "68.5", "66.3", "84.5"],
    ["RoBERTa-large", "66.4", "64.1", "82.2"],
]
E3 = [
    ["BERT-base", "full", "47.3", "36.7"],
    ["BERT-base", "bottleneck 50", "51.3", "29.0"],
    ["BERT-base", "umap 50", "60.2", "37.9"],
    ["RoBERTa-large", "bottleneck 50", "", "33.1"],
    ["BERT-medium", "bottleneck 50", "", "28.2"],
    ["HateBERT", "bottleneck 50", "", "30.1"],
]
E4 = [["BERT-base", "−7.6"], ["BERT-medium", "−10.8"], ["HateBERT", "−0.7"], ["RoBERTa-large", "+2.3"]]
E5 = [["BERT-base", "67.1"], ["BERT-medium", "63.2"], ["RoBERTa-large", "67.2"]]
E6 = [["BERT-medium", "30.6"], ["HateBERT", "35.2"], ["RoBERTa-large", "33.2"]]
E7 = [
    ["BERT-base", "94.1"], ["BERT-medium", "95.2"], ["HateBERT", "93.1"], ["RoBERTa-large", "17.5"],
    ["BERT-base and HateBERT", "49.3"], ["other pairs", "25 to 35"],
]  # fmt: skip
E8 = [["word overlap", ".68"], ["under-represented keywords", ".63"], ["shift of source", ".69"], ["targets", ".43"]]
READING: dict[str, str] = {
    "hatexplain hatexplain": """Read on 16 November 2026, accuracies in percent.

- *E1 agrees for a model of this size*: MiniLM with its bottleneck reaches 64 on random splits of a tenth of the posts, BERT-medium 63 on all of them.
- *E2, E3 agree*: random, subset-sum, closest is the order for MiniLM in each representation and for the small network. With the bottleneck it is 64, 43, 23 (BERT-base 68, 51, 29), with the full vectors 61, 48, 42 (68, 47, 37). The bottleneck gives the hardest closest split, as in the thesis, here below guessing.
- *UMAP differs*: reduced to 50 numbers by UMAP, MiniLM's space gives closest splits as hard as its full vectors do (26 against 42 in accuracy, .22 against .22 in macro F1); in the thesis UMAP was milder than the bottleneck (60 and 38 for BERT-base). Subset-sum falls there too (46; the thesis 60).
- *A space without labels gives no hard splits*: cut by TF-IDF, closest costs 4 points of macro F1 with an interval that holds zero. The thesis had no such model; it says the same as E4.
- *E4 agrees in size*: on pretrained vectors closest costs nothing (4 points better than random, interval around zero); the thesis found −10.8 to +2.3. What makes splits hard is what fine-tuning did to the space.
- *E5 agrees*: trained on any of these splits, models reach 59 to 66 on the independent posts, what they reach when trained on random splits.
""",
    "hatexplain E6": """*Agrees*: the closest split of MiniLM's bottleneck is hard for every model (32 for the small network and for TF-IDF, which reach about 60 on random splits), and hardest for MiniLM itself (23); in the thesis foreign models reach 31 to 35 and stay more than 25 points below random. The small network's own closest split is hard for the others too (40 and 30). Only the split of TF-IDF's space is hard for nobody.
""",
    "hatexplain E7": """*The diagonal agrees, the pairs differ*: over cluster seeds MiniLM's bottleneck chooses 90 % of the same test posts (thesis 93 to 95 for three models), its full vectors 49, TF-IDF 33 (RoBERTa-large 18). Two models share 7 to 25 %, by chance 10; in the thesis 25 to 49. Two representations of one model need not share anything: UMAP of MiniLM's vectors always chooses the same posts (100 %), and next to none of those that the vectors themselves choose (1 %). The models here are less alike than four transformers of the BERT family, and yet each one's split is hard for the others (E6): there are several hard regions, not one. Subset-sum splits of one space share little more than chance: the method does not look for a region.
""",
    "hatexplain E8": """*Agrees in part*: the strongest correlation is again lexical, the overlap of words typical of a class (.58; the thesis's keywords .63). The distance from test to training posts follows (−.30, not certain; −.55 before the UMAP splits were added, whose posts are near and hard). Word overlap with the nearest training text, .68 in the thesis, has the other sign here and an interval around zero, and neither the shift of source (.69) nor that of targets (.43) shows. Closest splits hold posts from where the classes meet, not from far away, so their posts do have near neighbours, of the other class. 39 splits of few spaces are not independent; the thesis's were not either.
""",
    "smollm2 hatexplain-600": """The decoder of 135 M parameters sees 480 posts twice; one split and one seed each, so only large differences count. *The fall is there for another architecture*: SmolLM2 falls by 16 points of macro F1 on its own closest split, MiniLM by 38, the network by 22, TF-IDF by 3 with an interval around zero; the independent scores stay.
""",
    "smollm2 E6": """*Agrees for MiniLM's space, not for SmolLM2's*: the closest split of MiniLM's space is hard for everyone (.20 to .37), that of SmolLM2's is hard for SmolLM2 alone; the others do there as well as on random posts. A decoder that has read 480 posts twice has hardly formed its space by the labels. The thesis's models were all encoders, trained on thirty times as many posts.
""",
    "smollm2 E7": """Test parts of two spaces share no more than chance.
""",
    "smollm2 E8": """Five splits say nothing here; the table is shown for completeness.
""",
    "stormfront stormfront": """The second dataset, which the thesis does not have. Hate is 11 % here, so accuracy hides everything and macro F1 is read. *The order holds for MiniLM*: .74 on random splits, .59 on subset-sum, .49 on closest (.47 is always saying noHate: on its own hardest region it finds almost no hate, ROC AUC .50), while the independent score stays .67 to .69. The small network and TF-IDF, weak on random splits already (.63, .57), fall by less, with intervals that hold zero.
""",
    "stormfront E6": """The closest split of MiniLM's space leaves every model near .5; that of the network's space costs MiniLM 20 points; that of TF-IDF's space costs it 4. As on HateXplain, a fine-tuned space finds what is hard for others, an untrained one does not.
""",
    "stormfront E7": """Closest splits of one space agree over cluster seeds (.71; the network's are identical), those of two spaces do not (.07 to .11, by chance .10).
""",
    "stormfront E8": """No property correlates reliably with the score here (all intervals hold zero): users and comments on both sides, sub-forums and lengths hardly differ between these splits. Word overlap has the thesis's sign (.37) without being certain.
""",
}
"""What was seen in the numbers, by hand; keys are the study and the dataset or the experiment."""


def write_page(runs: dict[str, RunRecord]) -> str:
    """The page of all finished studies."""
    parts = [
        "# The thesis's experiments with other models\n",
        f"{machine()}. Written by `python -m studies.thesis`; the settings are in the study files named below. "
        "The thesis (Züfle 2023) fine-tuned BERT-base, BERT-medium, HateBERT and RoBERTa-large on all 17,305 posts; here "
        "MiniLM (22.7 M parameters), a small network and TF-IDF with logistic regression see a part of them, so levels "
        "are lower and intervals wider. What can be compared is the order of things. Measured before the seen control: [what a fall is made of](what-a-fall-is-made-of.md) says how much of these falls is due to being unseen.\n",
    ]
    for name, run in runs.items():
        parts += [f"## {run.about['title']} (`studies/{STUDIES[name]}`)\n", *section(name, run)]
    missing = [STUDIES[name] for name in STUDIES if name not in runs]
    if missing:
        parts.append(f"Not run yet: {', '.join(missing)}.\n")
    return "\n".join(parts)


def section(name: str, run: RunRecord) -> list[str]:
    """The experiments of one study, with the thesis's figures where it has some."""
    found = []
    for data in run.about["datasets"]:
        is_main = name == "hatexplain" and data == "hatexplain"
        found += [f"### Scores on {data} (E1 to E5)\n", _shown(scores(run, data)), READING.get(f"{name} {data}", "")]
        if is_main:
            found += [
                "The thesis, in percent. E1, random splits:\n", table(["model", "accuracy", "macro F1", "one-vs-one ROC AUC"], E1),
                "E3, accuracy:\n", table(["model", "representation", "subset-sum", "closest"], E3),
                "E4, closest splits of pretrained vectors, points of accuracy:\n", table(["model", "change"], E4),
                "E5, accuracy on independent posts after training on a closest split:\n", table(["model", "accuracy"], E5),
            ]  # fmt: skip
        crossed = [_shown(matrix.table()) for matrix in cross_model(run, data)]
        if crossed:
            found += ["### Cross-model (E6)\n", *crossed, READING.get(f"{name} E6", "")]
            if is_main:
                found += [
                    "The thesis, accuracy on the closest split of BERT-base:\n",
                    table(["trained", "accuracy"], E6),
                ]
        shared = [_shown(matrix.table()) for matrix in overlaps(run, data)]
        if shared:
            found += ["### Overlap of test parts (E7)\n", *shared, READING.get(f"{name} E7", "")]
            if is_main:
                found += ["The thesis, percent of closest test parts in common:\n", table(["", "share"], E7)]
        if related := correlation_table(run, data):
            found += ["### Properties and scores (E8)\n", _shown(related), READING.get(f"{name} E8", "")]
            if is_main:
                found += ["The thesis, Pearson's r with F1:\n", table(["property", "r"], E8)]
    found += ["### Cost\n", _shown(costs(run))]
    return [part for part in found if part]


def _shown(given: Table) -> str:
    return to_markdown(given)


def main() -> None:
    """Run what is named, or everything, then write the page."""
    folder = data_folder()
    if folder is None:
        raise SystemExit("HateXplain is not here: name its folder by UNSEEN_DATA")
    os.environ["UNSEEN_DATA"] = str(folder)
    out = Path(sys.argv[1])
    for name in sys.argv[2:] or STUDIES:
        path = ROOT / "studies" / STUDIES[name]
        run_study(
            path, engine=Local(), out=out / name, store=out / "steps", command=f"python -m studies.thesis FOLDER {name}"
        )
    finished = {name: read_record(out / name, "study") for name in STUDIES if (out / name / "report.html").exists()}
    (ROOT / "docs" / "results" / "thesis.md").write_text(write_page(finished), encoding="utf-8")


if __name__ == "__main__":
    main()
