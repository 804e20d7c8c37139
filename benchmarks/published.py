"""Numbers that the papers report, for the tables of docs/results beside ours. Only what their text states."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Published:
    """One row of a published table: a metric and its coefficient by language pair (or criterion)."""

    source: str
    metric: str
    corr: str
    values: dict[str, float]


def _rows(source: str, corr: str, names: str, table: dict[str, str]) -> list[Published]:
    pairs = names.split()
    return [
        Published(source, metric, corr, dict(zip(pairs, map(float, values.split()), strict=True)))
        for metric, values in table.items()
    ]


_SWSS = "Xu et al. 2020 (SWSS), table 1"
_COBALT = "Fomicheva and Bel 2016 (UPF-Cobalt), table 2"
_ALIGNMENT = "Chousa and Hirao 2025, table 1"
_WEBNLG = "Chousa and Hirao 2025, table 2 (15 systems)"
_LENGTH = "Cheng et al. (length-controllable MT), tables 6 and 7"

PUBLISHED: dict[str, list[Published]] = {
    "wmt15-da-seg": _rows(
        _SWSS, "pearson", "cs-en de-en fi-en ru-en",
        {"BLEU": ".377 .420 .378 .445", "BLEU + SWSS": ".418 .464 .444 .477", "Meteor": ".605 .620 .645 .628",
         "Meteor + SWSS": ".609 .638 .668 .634", "Meteor++": ".610 .637 .661 .620",
         "Meteor++ + SWSS": ".613 .651 .679 .629"},
    ),
    "wmt16-da-seg": _rows(
        _SWSS, "pearson", "cs-en de-en fi-en ro-en ru-en tr-en",
        {"BLEU": ".484 .367 .325 .418 .377 .333", "BLEU + SWSS": ".508 .394 .368 .451 .413 .401",
         "Meteor": ".649 .503 .537 .626 .574 .609", "Meteor + SWSS": ".646 .520 .548 .633 .578 .638",
         "Meteor++": ".656 .507 .557 .625 .583 .600", "Meteor++ + SWSS": ".651 .523 .564 .632 .585 .628"},
    ),
    "wmt20-da": _rows(
        _ALIGNMENT, "pearson/sys", "zh-en",
        {"sentBLEU": ".950", "COMET": ".931", "Prism": ".945", "BERTScore": ".942", "con, none": ".942",
         "con, label": ".945", "con, head": ".924", "dep, none": ".939", "dep, head": ".904"},
    ),
    "webnlg2020-en": _rows(
        _WEBNLG, "pearson/sys", "Correctness DataCoverage Fluency Relevance TextStructure",
        {"sentBLEU": ".650 .534 .907 .609 .912", "Prism": ".913 .829 .897 .896 .893",
         "BERTScore": ".857 .769 .926 .836 .912", "con-head": ".768 .679 .935 .744 .922",
         "dep-head": ".660 .535 .897 .658 .893"},
    ),
    "wmt15-rr": _rows(
        _COBALT, "kendall-wmt14", "fr-en fi-en de-en cs-en ru-en",
        {"UPF-Cobalt": ".386 .437 .427 .457 .402", "DPMFcomb": ".395 .445 .482 .495 .418",
         "BEER_Treepel": ".389 .438 .447 .471 .403", "RATATOUILLE": ".398 .421 .441 .472 .393",
         "BLEU": ".358 .308 .360 .391 .329", "Meteor": ".380 .406 .422 .439 .386",
         "Asiya (ULC)": ".360 .351 .391 .424 .358"},
    ),
    "mtc-p4": _rows(
        "Fomicheva and Bel 2016 (UPF-Cobalt), table 3, one reference", "pearson", "adequacy fluency average",
        {"UPF-Cobalt": ".460 .279 .418", "Meteor": ".450 .262 .405", "BLEU": ".295 .200 .278"},
    ),
    "length-controlled": [
        *_rows(
            _LENGTH, "hybrid", "en-zh-80 en-zh-50 zh-en-80 zh-en-50",
            {"R1-F": ".3168 .2396 .2599 .2622", "R2-F": ".2831 .2666 .1484 .2152", "RL-F": ".3188 .2311 .1999 .2209",
             "comet-da20": ".5080 .4405 .3342 .4444", "BERTScore mBERT": ".3800 .4278 .4203 .4734",
             "BLEU*": ".1904 .2063 .1427 .1826", "BLEURT": ".4837 .5733 .2836 .4833"},
        ),
        *_rows(
            _LENGTH, "kendall", "en-zh-80 en-zh-50 zh-en-80 zh-en-50",
            {"R1-F": ".3139 .2701 .2014 .1287", "R2-F": ".2969 .2850 .1936 .1382", "RL-F": ".3030 .2760 .2429 .1770",
             "comet-da20": ".4720 .4264 .3210 .2482", "BERTScore mBERT": ".3682 .3220 .2577 .2190",
             "BLEURT": ".4611 .4348 .3330 .2722"},
        ),
    ],
}  # fmt: skip
