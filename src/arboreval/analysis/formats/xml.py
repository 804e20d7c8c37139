"""XML read into plain elements that know their line; document types (and with them entity tricks) are refused."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from xml.parsers import expat

from arboreval.analysis.formats.files import error, read_text


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
    parser = expat.ParserCreate("utf-8")
    document = Element("", {}, 1)
    stack = [document]

    def start(tag: str, attributes: dict[str, str]) -> None:
        element = Element(tag, attributes, parser.CurrentLineNumber)
        stack[-1].children.append(element)
        stack.append(element)

    def end(_tag: str) -> None:
        stack.pop()

    def characters(data: str) -> None:
        stack[-1].text += data

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
