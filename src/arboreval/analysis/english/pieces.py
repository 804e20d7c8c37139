"""Words to the encoder's word-pieces. Each word is cut on its own, so every piece belongs to exactly one word."""

from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from tokenizers import Encoding, Tokenizer

from arboreval.analysis.surrogates import replace_surrogates

__all__ = ["CLOSE", "OPEN", "PAD", "Pieces", "Word"]

OPEN, PAD, CLOSE = 0, 1, 2
#: the tokenizer gives up on longer stretches of letters and calls them unknown; they are cut into stretches of this
#: many characters
STRETCH = 32
FIRST_WORD, SPACE_FOLLOWS = 1 << 6, 1 << 7
#: words remembered, and the most characters of one: addresses and keys rarely come again, and would fill the memory
_MEMORY, _LONGEST = 50_000, 40
Ids = list[int]
Offsets = list[tuple[int, int]]


class Word(NamedTuple):
    """What the encoder sees of a word: its pieces, where each ends inside the word, and six bits of its letter case."""

    ids: tuple[int, ...]
    starts: tuple[int, ...]
    ends: tuple[int, ...]
    case: int


class Pieces:
    """The tokenizer with a bounded memory of the words it has seen."""

    def __init__(self, path: Path) -> None:
        self._tokenizer = Tokenizer.from_file(str(path))
        self._unknown = int(self._tokenizer.token_to_id("[UNK]") or 0)
        self._known: dict[str, Word] = {}

    def words(self, forms: Sequence[str]) -> list[Word]:
        known = self._known
        new = [form for form in dict.fromkeys(forms) if form not in known]
        if not new:
            return [known[form] for form in forms]
        valid = [replace_surrogates(form) for form in new]
        read = {
            form: self._word(form, *self._read_stretches(text, cut.ids, cut.offsets))
            for form, text, cut in zip(new, valid, self._encode(valid), strict=True)
        }
        found = [read[form] if form in read else known[form] for form in forms]
        if len(known) + len(read) > _MEMORY:
            self._known = known = {}
        known.update(islice(((form, word) for form, word in read.items() if len(form) <= _LONGEST), _MEMORY))
        return found

    def _encode(self, texts: Sequence[str]) -> list[Encoding]:
        found: list[Encoding] = self._tokenizer.encode_batch(list(texts), add_special_tokens=False)
        return found

    def _read_stretches(self, text: str, ids: Ids, offsets: Offsets) -> tuple[Ids, Offsets]:
        """The pieces of a word, where those the tokenizer gave up on for their length are cut and read after all."""
        if all(
            piece != self._unknown or end - start <= STRETCH for piece, (start, end) in zip(ids, offsets, strict=True)
        ):
            return ids, offsets
        read: Ids = []
        places: Offsets = []
        for piece, (start, end) in zip(ids, offsets, strict=True):
            if piece != self._unknown or end - start <= STRETCH:
                read.append(piece)
                places.append((start, end))
                continue
            begins = range(start, end, STRETCH)
            for base, cut in zip(begins, self._encode([text[i : min(i + STRETCH, end)] for i in begins]), strict=True):
                read += cut.ids
                places += [(base + i, base + j) for i, j in cut.offsets]
        return read, places

    def _word(self, form: str, ids: Ids, offsets: Offsets) -> Word:
        if not ids:  # nothing but characters that the tokenizer drops
            return Word((self._unknown,), (0,), (len(form),), case_code(form))
        starts = [start for start, _ in offsets]
        ends = [end for _, end in offsets]
        # dropped characters belong to their neighbours: the pieces of a word cover it
        starts[0], ends[-1] = 0, len(form)
        return Word(tuple(ids), tuple(starts), tuple(ends), case_code(form))


def case_code(form: str) -> int:
    """Six of the eight case features, one bit each; the position in the text gives the others."""
    upper = [c.isupper() for c in form]
    return (
        upper[0]
        | (len(form) > 1 and form.isupper()) << 1
        | any(upper[1:]) << 2
        | form.islower() << 3
        | any(c.isdigit() for c in form) << 4
        | (not any(c.isalnum() for c in form)) << 5
    )
