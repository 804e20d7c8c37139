"""XML read into plain elements that know their line; document types (and with them entity tricks) are refused.

For writers: what XML 1.0 has no way to hold, control characters for example, is an error and not an unreadable file.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from xml.parsers import expat
from xml.sax import saxutils

from arboreval.analysis.formats.files import error, quoted, read_text
from arboreval.analysis.surrogates import SURROGATE
from arboreval.errors import StructureError

_NOT_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass
class Element:
    tag: str
    attributes: dict[str, str]
    line: int
    children: list[Element] = field(default_factory=list)
    text: str = ""

    def all(self, tag: str) -> list[Element]:
        return [child for child in self.children if child.tag == tag]

    def first(self, tag: str) -> Element | None:
        return next((child for child in self.children if child.tag == tag), None)


def read_xml(path: str | Path) -> Element:
    return parse_xml(read_text(path), str(path))


def parse_xml(text: str, origin: str) -> Element:
    if lone := SURROGATE.search(text):
        line = text.count("\n", 0, lone.start()) + 1
        raise error(origin, line, f"U+{ord(lone[0]):04X} is a lone surrogate, which XML cannot hold.")
    parser = expat.ParserCreate("utf-8")
    document = Element("", {}, 1)
    # of each open element the pieces of its text: longer texts come in many
    stack: list[tuple[Element, list[str]]] = [(document, [])]

    def start(tag: str, attributes: dict[str, str]) -> None:
        element = Element(tag, attributes, parser.CurrentLineNumber)
        stack[-1][0].children.append(element)
        stack.append((element, []))

    def end(_tag: str) -> None:
        element, pieces = stack.pop()
        element.text = "".join(pieces)

    def characters(data: str) -> None:
        stack[-1][1].append(data)

    def doctype(*_: object) -> None:
        raise error(origin, parser.CurrentLineNumber, "a document type is not allowed here.")

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = characters
    parser.StartDoctypeDeclHandler = doctype
    try:
        # the text is decoded already, so an encoding that the file declares must not be applied again
        parser.Parse(text.encode("utf-8"), True)
    except expat.ExpatError as problem:
        raise error(origin, problem.lineno, f"this is not XML ({expat.ErrorString(problem.code)}).") from None
    return document.children[0]


def escape(text: str, what: str) -> str:
    """``text`` as the content of an element; ``what`` says in errors what it is: ``word 3``."""
    return saxutils.escape(_checked(text, what))


def quoteattr(text: str, what: str) -> str:
    """``text`` as the value of an attribute, with its quotes."""
    return saxutils.quoteattr(_checked(text, what))


def _checked(text: str, what: str) -> str:
    if bad := _NOT_XML.search(text):
        place = f"character {bad.start() + 1} is U+{ord(bad[0]):04X}"
        raise StructureError(f"{what}, {quoted(text)}, cannot be written as XML: its {place}.")
    return text
