"""Readers and writers of parse files: CoNLL-U, Penn Treebank brackets, UCCA and RST.

Each module reads its files into small records that keep what the file says, turns records into structures and back, and
names file and line in every error. Files may be gzipped.
"""
