"""Raw English text to words, by rules, to the conventions of the EWT and GUM treebanks.

The parsers were trained on those treebanks' words, so the words must be cut as there: contractions and possessives
split (`do|n't`, `can|not`, `he|'s`, `gon|na`), hyphenated compounds split around the hyphen except after a prefix
(`long|-|term`, but `non-profit`), web and mail addresses, file names, telephone numbers, dates, times, emoticons and
abbreviations whole, currency signs and units apart from their number (`$|5|k`).

The text is first cut at white space; each piece is then cut by one regular expression, whatever stands around it.
Pieces repeat, so their cuts are remembered (bounded). Every character that is not white space belongs to exactly one
word, and no word holds white space, whatever the script: what no rule knows becomes words of one grapheme each.
"""

import re
from functools import lru_cache
from itertools import pairwise

import regex

__all__ = ["paragraphs", "split_words"]

# `re`, not `regex`: its white space is that of str.isspace()
_CHUNK = re.compile(r"\S+")
# two line ends with nothing but white space between them
_BLANK_LINE = regex.compile(r"(?:\r\n|[\n\r\u2028\v\f])[^\S\n\r]*(?:\r\n|[\n\r\u2028\v\f])\s*|\u2029\s*")

_APOSTROPHE = "['’`´]"
_PREFIX = (
    "agro|ante|anti|arch|bi|bio|co|contra|counter|cross|cyber|de|di|e|eco|electro|ex|extra|hydro|hyper|"
    "infra|inter|intra|macro|mega|meta|micro|mid|mini|mono|multi|neo|neuro|non|omni|over|pan|para|peri|poly|post|"
    "pre|pro|proto|pseudo|psycho|quasi|re|retro|semi|socio|sub|super|supra|trans|tri|ultra|un|uni|vice"
)
_SUFFIX = "esque|ette|fest|fold|gate|itis|less|most|rama|wise"
_DOMAIN = "com|org|net|edu|gov|mil|info|biz|int|io|tv|me|co|uk|us|ca|au|de|fr|es|it|nl|eu|ru|cn|jp|in|nz|ie|za|br"
_FILE = (
    "docx?|xlsx?|pptx?|pdf|txt|csv|zip|html?|php|jpe?g|gif|png|exe|xml|url|json|py|mp[34]|avi|mov|ppt|rtf|tex|js|css|"
    "pst|nsf|cgi|tar|gz|tgz|sh|cfg|ini|log|bat|dll|wav|svg"
)
_TITLE = (
    "Mr|Mrs|Ms|Messrs|Mlle|Mme|Dr|Drs|St|Ste|Ft|Mt|Sr|Jr|Prof|Rev|Fr|Hon|Gen|Lt|Col|Maj|Capt|Cpt|Sgt|Cpl|Cmdr|Adm|"
    "Gov|Sen|Rep|Reps|Sens|Pres|Supt|Insp|Amb|Atty|Bros|Inc|Corp|Ltd|Co|Cos|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept|Sep|Oct|"
    "Nov|Dec|Mon|Tue|Tues|Wed|Thur|Thurs|Thu|Fri|Sat|Sun|Ave|Blvd|Rd|Dept|Dist|Univ|Assn|Attn|Ariz|Ark|Calif|Colo|Conn|"
    "Fla|Ga|Ill|Ind|Kan|Ky|La|Mass|Mich|Minn|Miss|Mo|Mont|Neb|Nev|Okla|Ont|Pa|Penn|Tenn|Tex|Va|Vt|Wash|Wis|Wyo|Nos|"
    "Figs?|Eqs?|Vol|Ph|Sec|Op|Ed|Eds|Arrv|Ext|Est|Apt|Tel|Bldg|Assoc|Cal|Sts|PS|GEN|PVT|PROF|CAPT|SEN"
)
_LOWER_ABBREVIATION = (
    "etc|vs|viz|cf|al|approx|ca|e\\.g|i\\.e|eg|ie|a\\.k\\.a|dept|ext|est|misc|pp|vol|vols|incl|excl|inc|ltd|corp|"
    "figs?|eqs?|eds?|lbs?|oz|ft|tel|nos|ibid|resp|prev|esp|avg|min|max|mgmt|govt|dist|div|arrv|dep|st|jr|sr|mr|mrs|ms|dr|"
    "sp|spp|op|cit|chap|sec|secs|hrs|mins|nr|ph\\.d|attn|comps|cont|feat|sept|oct|nov|dec|jan|feb|aug"
)
_EMOTICON = (
    r"(?:[<>]?[:;=][-o*'^]?[)\](\[dDpPoO/\\|}{@3*>]+(?!\w)"
    # no more brackets than people write: a long row of them would be read to its end from each of its characters
    r"|[)\](\[]{1,16}+[-o*']?[:;=](?![\w/(])"
    r"|[\^oO>\-][_.][\^oO<\-](?!\w)|<3+(?!\d)|</3|\^\^|:'\(|T_T|[xX]D+\b|\\m/|¯\\_\(ツ\)_/¯)"
)
# regex tries them in order, so the longer ones stand first
_UNIT = (
    "(?:[aApP][mM]|mm|MM|cm|km|kgs?|mg|ml|lbs?|ft|hrs?|mins?|yrs?|bn|tn|mph|[kK][wW]h?|MWh?|[GMKT]B|[GM]?Hz|px|pts?|oz|ppm|"
    "bps|secs?|persons|years?|days?|minutes?|hours?|inch|feet|miles?|dollars?|bucks|[kKmMgxX])"
)
_WORD = r"[\p{L}\p{M}\p{Cf}]"
_ALNUM = r"[\p{L}\p{M}\p{N}\p{Cf}]"

# One alternative per kind of word, the more specific first. `sub` groups are cut again below.
_PIECE = regex.compile(
    rf"""
    (?P<address>
        (?:https?|ftps?|file)://[^\s<>"”]+ | mailto:[^\s<>"]+ | (?:www|ftp)\d?\.[^\s<>"”]+
      | doi:[^\s<>"]+
      | [\w.%+&'-]{{1,100}}@(?:[\w-]{{1,100}}\.){{0,10}}[\w-]{{0,100}}\w )
  | (?P<domain> (?<!\w)(?:[A-Za-z0-9_-]{{1,63}}\.){{1,8}}(?:{_DOMAIN})\b(?:/[^\s<>"”]*)?(?!\.?\w) )
  | (?P<file> (?<!\w)[\p{{L}}\p{{N}}_#!%&~.-]{{0,100}}\.(?i:{_FILE})(?!\w) )
  | (?P<emoticon> (?<!\w){_EMOTICON} )
  | (?P<tag> (?<![\w&])[#@][\p{{L}}_][\p{{L}}\p{{N}}_]* )
  | (?P<phone> (?<![\w.-])\+?(?:\d[-.])?(?:\(\d{{3}}\))?(?:\d{{3}}[-./])?\d{{3}}[-.]\d{{4}}(?![\w-]) )
  | (?P<date> (?<![\w/])\d{{1,4}}(?:/\d{{1,4}}){{1,2}}(?![\w/]) | (?<![\w-])\d{{1,4}}-\d{{1,2}}-\d{{2,4}}(?![\w-])  )
  | (?P<time> \d{{1,2}}(?::\d{{2}})+ )
  | (?P<number>
        (?:\d+(?:,\d{{3}}(?!\d))*(?:\.\d+)*|(?<![\w.])\.\d+|(?<![\w)])\+\d+)
        (?: (?:st|nd|rd|th|ST|ND|RD|TH)\b | {_APOSTROPHE}?[sS]\b | (?![aApP]\.[mM]){_ALNUM}+(?<!{_UNIT})\b )? )
    (?P<unit> (?:[aApP]\.[mM]\b\.? | {_UNIT}\b)(?![-\w]) )?
  | (?P<decade> (?<!\w){_APOSTROPHE}\d\d(?:{_APOSTROPHE}?s)?(?!\w) )
  | (?P<clipped> (?<!\w){_APOSTROPHE}(?i:em|til|till|cause|cuz|coz|bout|round|tis|twas|n|kay)\b )
  | (?P<initials> (?<!\w)(?:{_WORD}\.){{2,}}(?:{_WORD}(?!\w))? | (?<!\w)\p{{Lu}}\.\p{{Lu}}(?![\w.])
      | (?<!\w)(?:Ph|M)\.(?:D|Sc|Phil)\b\.? )
  | (?P<initial> (?<![\w'’°º])(?!I\.)\p{{Lu}}\.(?!\.|\w) )
  | (?P<abbreviation> (?<![\w'’.])(?:{_TITLE})\.(?!\.|\p{{Ll}}) | (?<![\w'’.-])(?i:{_LOWER_ABBREVIATION})\.(?!\.\.|\w) )
  | (?P<clitic> {_APOSTROPHE}(?i:s|m|d|re|ve|ll)(?!\w) )
  | (?P<newsgroup> (?<!\w)(?:alt|comp|misc|rec|soc|sci|talk|news|ba)(?:\.[a-z][a-z-]{{0,60}}){{1,8}}(?!\w) )
  | (?P<brand> (?<!\w)Yahoo! )
  | (?P<and_name> (?<!\w)\p{{L}}{{1,3}}&\p{{L}}{{1,2}}(?!\w) )
  | (?P<slash_name> (?<![\w/])(?i:w/o|w/out|w/|s/he|l/c|i/c|i/s|c/o|n/a|b/c|a/c)(?![/]) )
  | (?P<money_code> (?<!\w)(?:US|U|C|A|AU|NZ|HK|CA|CAN|S)\$ )
  | (?P<censored> {_WORD}+\*+{_WORD}+ )
  | (?P<prefixed> (?<![\w-])(?i:(?:{_PREFIX})-(?:(?:{_PREFIX})-)?)(?!and\b|or\b|to\b){_WORD}{{2,}}(?:\d+)?
        | (?<![\w-])(?i:mid|pre|post)-\d+s?(?!\w)
        | (?<![\w-])(?i:uh-oh|uh-huh|mm-hm+|mhm|nuh-uh|whoo-hoo|oh-ho|u-haul|m-m+|hm-m+|where-ever) (?!\w)
        | (?<!\w){_WORD}+-(?i:{_SUFFIX})(?!\w)
        | (?<!\w)(?i:naqsh|masjed)-e(?!\w)
        | (?<!\w){_WORD}{{1,2}}-(?=$|["”')?!,.]+$) )
  | (?P<word> {_WORD}+(?:[_\d]+{_ALNUM}+|\d+)*(?:{_APOSTROPHE}{_WORD}+)* | [\p{{L}}\p{{N}}]{_ALNUM}* )
  | (?P<run> \.{{2,}}[?!]* | …+\.* | [!?]+(?:\.(?!\.)[!?]*)? | \.[?!]+ | :\?+ | -{{2,}}=* | =+-{{2,}} | /{{2,}}
      | \\{{2,}} | \${{2,}} | —+ | –+ | _+ | \*+ | =+ | ~+ | \++ | \#+ | <+ | >+ | ''|``|’’|‘’ | \|+ | ·+ | \^+ | •+ )
  # two make a flag; \X would count from the beginning of a row of them to know which two
  | (?P<flag> \p{{RI}}{{2}}[\p{{GCB=Extend}}\p{{GCB=SpacingMark}}\p{{GCB=ZWJ}}]* )
  | \X
    """,
    regex.VERBOSE,
)

# what of these may stand at the end of a sentence
_ABBREVIATION = regex.compile(rf"(?:\p{{Lu}}|{_TITLE}|(?i:{_LOWER_ABBREVIATION}))\.")
_NEVER_LAST = frozenset({"vs.", "viz.", "cf.", "e.g.", "i.e.", "eg.", "ie.", "mr.", "mrs.", "ms.", "messrs."})
# capitalised words after an abbreviation that are the beginning of a sentence and not of a name
_OPENERS = frozenset(
    [
        "The",
        "This",
        "That",
        "These",
        "Those",
        "There",
        "Here",
        "It",
        "He",
        "She",
        "They",
        "We",
        "You",
        "I",
        "My",
        "His",
        "Her",
        "Our",
        "Their",
        "Your",
        "Its",
        "But",
        "And",
        "So",
        "Then",
        "If",
        "When",
        "While",
        "Although",
        "Because",
        "However",
        "What",
        "Why",
        "How",
        "Who",
        "Where",
        "Which",
        "Not",
        "Nobody",
        "Everyone",
        "Someone",
    ]
)

# `'s` and its like at the end of a word; the verb's negation is cut before its n
_CLITIC = regex.compile(
    rf"(?P<host>.*?)(?P<clitic>(?<=[\w.])n{_APOSTROPHE}t|{_APOSTROPHE}(?:s|m|d|re|ve|ll|em))(?P<more>{_APOSTROPHE}(?:s|m|d|re|ve|ll))?",
    regex.IGNORECASE | regex.DOTALL,
)
# words written together that the treebanks cut, with the place of the cut
_FUSED = {
    "cannot": 3, "gonna": 3, "wanna": 3, "gotta": 3, "gimme": 3, "lemme": 3, "outta": 3, "dunno": 2, "whaddya": 4,
    "dont": 2, "doesnt": 4, "didnt": 3, "cant": 2, "wont": 2, "isnt": 2, "wasnt": 3, "werent": 4, "arent": 3,
    "couldnt": 5, "wouldnt": 5, "shouldnt": 6, "havent": 4, "hasnt": 3, "hadnt": 3, "aint": 2,
    "im": 1, "ive": 1, "youre": 3, "youve": 3, "youll": 3, "theyre": 4, "theyve": 4, "theyll": 4, "weve": 2,
    "thats": 4, "theres": 5, "heres": 4, "whats": 4, "hes": 2, "shes": 3, "itll": 2, "alot": 1, "elses": 4, "tryna": 3,
    "coulda": 5, "shoulda": 6, "woulda": 5, "y'all": 2, "y’all": 2, "yall": 1, "whatcha": 4,
    "d'you": 2, "d’you": 2, "finna": 3, "oughta": 5, "hafta": 3, "musta": 4, "mighta": 5, "lotta": 3,
}  # fmt: skip
_NOT_CUT = regex.compile(rf"(?i:o{_APOSTROPHE}clock|ma{_APOSTROPHE}am|\p{{Lu}}{_APOSTROPHE}s|#{_APOSTROPHE}s)$")
_MARK = regex.compile(_APOSTROPHE)
_TRAILING = ".,;:!?)]}>'\"’”*"


def paragraphs(text: str) -> list[tuple[int, int]]:
    """The stretches of text between blank lines; no sentence reaches over one of their ends."""
    spans = []
    start = 0
    for match in _BLANK_LINE.finditer(text):
        if text[start : match.start()].strip():
            spans.append((start, match.start()))
        start = match.end()
    if text[start:].strip():
        spans.append((start, len(text)))
    return spans


def split_words(text: str) -> list[tuple[int, int]]:
    """The [start, end) character offsets of the words of a text, in order."""
    words: list[tuple[int, int]] = []
    for match in _CHUNK.finditer(text):
        base = match.start()
        chunk = match.group()
        if chunk.isalpha() and chunk.isascii() and chunk.lower() not in _FUSED:
            words.append((base, match.end()))
        else:
            # very long pieces are not worth remembering, and would let the memory grow
            cuts = _cut(chunk) if len(chunk) <= 64 else _cut_now(chunk)
            words.extend([(base + i, base + j) for i, j in cuts])
            if chunk[-1] == ".":
                after = _CHUNK.search(text, match.end())
                ends = after is None or _BLANK_LINE.search(text, match.end(), after.start())
                _settle_full_stop(text, words, "" if ends or after is None else after.group())
    return words


def _settle_full_stop(text: str, words: list[tuple[int, int]], following: str) -> None:
    """Decides by what follows whether a full stop belongs to an abbreviation; nothing does at the end of a paragraph.

    At the end of a sentence the treebanks give the stop to the sentence: "I met Al.", "a big feat.", "IBM Corp. She".
    """
    start, end = words[-1]
    form = text[start:end]
    if form == ".":
        if following[:1].isdigit() and len(words) > 1 and text[words[-2][0] : end] in ("No.", "no."):
            words[-2:] = [(words[-2][0], end)]
        return
    lower = form.lower()
    before = text[slice(*words[-2])].lower() if len(words) > 1 else ""
    if lower in ("etc.", "a.m.", "p.m."):
        ends = not following or following[0].isupper()
    elif not before or lower in _NEVER_LAST or (lower, before) == ("al.", "et") or not _ABBREVIATION.fullmatch(form):
        return
    else:
        # "feat. The Weeknd"
        ends = not following or (following in _OPENERS and lower != "feat.")
    if ends:
        words[-1:] = [(start, end - 1), (end - 1, end)]


def _cut_now(chunk: str) -> tuple[tuple[int, int], ...]:
    cuts: list[tuple[int, int]] = []
    position = 0
    while position < len(chunk):
        match = _PIECE.match(chunk, position)
        kind, end = match.lastgroup, match.end()
        if kind in ("address", "domain"):
            end = position + len(match.group().rstrip(_TRAILING)) or end
            cuts.append((position, end))
        elif kind == "unit":
            middle = match.start("unit")
            cuts += ((position, middle), (middle, end))
        elif kind in ("word", "prefixed"):
            cuts += _cut_word(chunk, position, end)
        else:
            cuts.append((position, end))
        position = end
    return tuple(cuts)


_cut = lru_cache(maxsize=65536)(_cut_now)


def _cut_word(chunk: str, start: int, end: int) -> list[tuple[int, int]]:
    """A word of letters, cut before its clitics."""
    form = chunk[start:end]
    place = _FUSED.get(form.lower())
    if place is not None:
        return [(start, start + place), (start + place, end)]
    if not _MARK.search(form) or _NOT_CUT.match(form):
        return [(start, end)]
    match = _CLITIC.fullmatch(form)
    if match is None:
        return [(start, end)]
    ends = [match.end("host"), match.end("clitic"), match.end("more")]
    bounds = sorted({0, len(form), *(e for e in ends if e > 0)})
    return [(start + i, start + j) for i, j in pairwise(bounds)]
