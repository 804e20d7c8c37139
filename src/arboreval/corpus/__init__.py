"""Segments, the corpus that pairs them, and everything that reads or writes them."""

from arboreval.corpus.model import Corpus, Segment
from arboreval.corpus.readers import read_corpus

__all__ = ["Corpus", "Segment", "read_corpus"]
