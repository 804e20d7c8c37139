"""ROUGE-W."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from arboreval.errors import UsageError
from arboreval.metrics.base import Level, Metric, MetricInfo, option
from arboreval.metrics.rouge import RougeBase
from arboreval.signature import SignatureValue


def weighted_lcs(reference: tuple[str, ...], hypothesis: tuple[str, ...], weight: float) -> float:
    """WLCS of Lin (2004), section 3.3, with f(k) = k^weight: a run of k consecutive matches is worth f(k).

    ``score[j]`` and ``run[j]`` are row i of the paper's tables c and w.
    """
    powers = [k**weight for k in range(min(len(reference), len(hypothesis)) + 1)]
    score, run = [0.0] * (len(hypothesis) + 1), [0] * (len(hypothesis) + 1)
    for word in reference:
        score_above, run_above = score, run
        score, run = [0.0], [0]
        for j, other in enumerate(hypothesis):
            if word == other:
                k = run_above[j]
                score.append(score_above[j] + powers[k + 1] - powers[k])
                run.append(k + 1)
            else:
                left, above = score[j], score_above[j + 1]
                score.append(above if above > left else left)
                run.append(0)
    return score[-1]


@dataclass(frozen=True)
class RougeW(RougeBase):
    """ROUGE-W: longest common subsequence in which consecutive matches count for more (Lin 2004, eq. 13-15).

    R = f⁻¹(WLCS / f(m)), P = f⁻¹(WLCS / f(n)), with f(k) = k^weight, m and n the lengths of reference and output
    F = 2PR / (P + R)

    Settings of ROUGE-1.5.5 as DiscoTK uses them: weight 1.2, Porter stemming, F with equal weights.
    """

    info = MetricInfo(
        name="rouge-w",
        summary="longest common subsequence that favours consecutive matches",
        definition=(
            "WLCS^(1/w) over the length of the output (P) or of the reference (R), where a run of k consecutive "
            "matches adds k^w to WLCS, w = 1.2; F their harmonic mean; mean over segments. Several references: the "
            "one with the best F."
        ),
        higher_is_better=True,
        scale=(0.0, 1.0),
        languages=("en",),
        citation=(
            "Lin. ROUGE: a package for automatic evaluation of summaries. Text Summarization Branches Out, ACL 2004; "
            "settings of Joty, Guzmán, Màrquez, Nakov. DiscoTK. WMT 2014."
        ),
    )

    stem: bool = option(True, "Porter stemming of words longer than three letters (English only)")
    weight: float = option(1.2, "exponent that favours consecutive matches; 1 gives ROUGE-L")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.weight < 1:
            raise UsageError("rouge-w: option weight must be at least 1.")

    def score_one(self, reference: tuple[str, ...], hypothesis: tuple[str, ...]) -> tuple[float, float, float]:
        matched = weighted_lcs(reference, hypothesis, self.weight) ** (1 / self.weight)
        if matched == 0:
            return 0.0, 0.0, 0.0
        # sums of rounded powers can exceed the length by an ulp
        p, r = min(matched / len(hypothesis), 1.0), min(matched / len(reference), 1.0)
        return p, r, 2 * p * r / (p + r)

    def signature_fields(self, level: Level) -> Mapping[str, SignatureValue]:
        return {**super().signature_fields(level), "weight": self.weight}

    def version(self) -> str:
        return Metric.version(self)
