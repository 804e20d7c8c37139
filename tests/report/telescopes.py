"""Figure 1's pair of the structure-alignment paper with trees and vectors by hand, so that every number is exact.

Every word has a dimension of its own, shared by the two sentences where the words are the same. A subtree's vector then
says which words it has, and the similarity of subtrees s and t is |s and t in common| / sqrt(|s| |t|).
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent / "metrics"))
from hand_analyses import HandMade, analysis

import arboreval
from arboreval.analysis.source import AnalysisSource
from arboreval.metrics.structure_alignment import StructureAlignment

BY = analysis(
    ["I", "saw", "a", "girl", "by", "a", "telescope", "."],
    np.eye(9)[[0, 1, 2, 3, 8, 5, 6, 7]],
    heads=[1, -1, 3, 1, 1, 6, 4, 1],
    relations=["nsubj", "root", "det", "obj", "prep", "det", "pobj", "punct"],
    tree=[("TOP", -1, 0, 8), ("S", 0, 0, 8), ("NP", 1, 0, 1), ("VP", 1, 1, 7), ("NP", 3, 2, 4), ("PP", 3, 4, 7),
          ("NP", 5, 5, 7)],
    xpos=["PRP", "VBD", "DT", "NN", "IN", "DT", "NN", "."],
)  # fmt: skip
HAVING = analysis(
    ["I", "saw", "a", "girl", "having", "a", "telescope", "."],
    np.eye(9)[[0, 1, 2, 3, 4, 5, 6, 7]],
    heads=[1, -1, 3, 1, 3, 6, 4, 1],
    relations=["nsubj", "root", "det", "obj", "acl", "det", "obj", "punct"],
    tree=[("TOP", -1, 0, 8), ("S", 0, 0, 8), ("NP", 1, 0, 1), ("VP", 1, 1, 7), ("NP", 3, 2, 7), ("NP", 4, 2, 4),
          ("VP", 4, 4, 7), ("NP", 6, 5, 7)],
    xpos=["PRP", "VBD", "DT", "NN", "VBG", "DT", "NN", "."],
)  # fmt: skip
#: another reference
OTHER = analysis(["I", "saw", "nothing"], np.eye(9)[[0, 1, 8]], heads=[1, -1, 1], xpos=["PRP", "VBD", "NN"],
                 tree=[("TOP", -1, 0, 3), ("S", 0, 0, 3), ("VP", 1, 1, 3)])  # fmt: skip
SOURCE = AnalysisSource(HandMade(BY, HAVING, OTHER))


def metric(**options):
    return StructureAlignment(using=SOURCE, **{"leaves": "word", **options})


def explained(hypothesis=BY.text, references=HAVING.text, **options):
    return arboreval.explain(hypothesis, references, metric=metric(**options))
