"""Analyses of texts: the data model, its codecs and file formats, and the analyzers that fill it.

This package imports nothing by itself, so that the command line stays quick; import the module you need.
"""
