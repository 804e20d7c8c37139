"""A cheap guess whether a text is in another language than expected, for the input report.

The script decides first; among languages in Latin script the commonest function words do. It is meant to notice
untranslated output and swapped files, not to identify languages: texts too short to tell count as expected.
"""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import Any

_SCRIPTS = {
    "am": "Ethiopic", "ar": "Arabic", "be": "Cyrillic", "bg": "Cyrillic", "bn": "Bengali", "el": "Greek",
    "fa": "Arabic", "gu": "Gujarati", "he": "Hebrew", "hi": "Devanagari", "hy": "Armenian",
    "ja": "Han Hiragana Katakana",
    "ka": "Georgian", "kk": "Cyrillic", "km": "Khmer", "kn": "Kannada", "ko": "Hangul Han", "ky": "Cyrillic",
    "lo": "Lao", "mk": "Cyrillic", "ml": "Malayalam", "mn": "Cyrillic", "mr": "Devanagari", "my": "Myanmar",
    "ne": "Devanagari", "pa": "Gurmukhi", "ps": "Arabic", "ru": "Cyrillic", "si": "Sinhala", "sr": "Cyrillic Latin",
    "ta": "Tamil", "te": "Telugu", "tg": "Cyrillic", "th": "Thai", "uk": "Cyrillic", "ur": "Arabic", "zh": "Han",
}  # fmt: skip

_FUNCTION_WORDS = {
    "en": "the of and to in is that it was for on are with as he be at by this had not but from they which or we an "
    "his her were their been has have would there what if will who one all she you said about into than its more can "
    "our out when up my do some could him them no other then these your how after over also did i a before",
    "de": "der die das und ist nicht ein eine einer einen einem von zu mit den dem des auf für im sich auch als es "
    "wird werden sie er wir ich war hat haben bei nach noch wie aus dass aber wenn oder zur zum über durch sind um nur",
    "fr": "le la les et est une des du dans que qui il elle en pour pas sur au avec ce cette sont par plus ne se son "
    "sa ses nous vous ils mais ou aux leur été avait être comme on d'une c'est n'est qu'il je",
    "es": "el la los las y es un una de del que en por con para no se su sus al lo como más pero fue ha este esta son "
    "entre también muy ya sobre si cuando hasta hay",
    "it": "il lo la gli le e è un una di del della dei delle che in per con non si su sono da nel nella anche come più "
    "ma alla dal ha questo questa essere i al",
    "pt": "o a os as e é um uma de do da dos das que em no na nos por para com não se seu sua mais mas foi ao como são "
    "também pelo pela",
    "nl": "de het een en van is dat niet op te zijn voor met die aan er om ook als bij door naar uit wordt werd deze "
    "maar heeft hij ze wij over nog",
    "sv": "och att det som en är av för den inte med på till om har de ett var från men så vid kan sig eller när",
    "da": "og at det som en er af for den ikke med på til om har de et var fra men så ved kan sig eller når blev",
    "nb": "og at det som en er av for den ikke med på til om har de et var fra men så ved kan seg eller når ble",
    "fi": "ja on ei se että oli hän mutta ovat myös kun niin kuin joka tai mukaan olisi voi vain ole jo sen ne tämä",
    "et": "ja on ei see et oli ta kui aga ka mis kes oma või ning selle seda nad ma nii olid ole veel tema",
    "pl": "i w na nie się z do że to jest o jak ale po od za przez dla są tym już być lub tego oraz był było",
    "cs": "a je se na že v to s z do i o ve si za by jsou ale jako po pro tak byl které který od už není bylo však",
    "sk": "a je sa na že v to s z do i o vo si za by sú ale ako po pre tak bol ktoré ktorý od už nie bolo však",
    "hu": "a az és hogy nem is egy ez volt de csak már meg azt van mint ha még ki el vagy lehet után",
    "ro": "și în de la cu pe nu un o că este din care a pentru mai sunt să au se fost dar prin ca sau",
    "tr": "ve bir bu da de için ile çok ne olan gibi daha olarak ama var en kadar sonra değil ise her o",
    "is": "og að er sem til var ekki það af með fyrir en hann um við hefur þetta því frá eru hún þegar",
    "lt": "ir kad yra į su iš o bet tai buvo ne kaip už nuo apie jis jo dar tik arba",
    "lv": "un ir ka no ar par uz tas bet kas tā nav bija kā arī to pie vai",
    "id": "yang dan di itu dengan untuk tidak dari ini dalam akan pada juga saya adalah ke karena bisa ada oleh mereka",
    "vi": "và của là có không được trong cho một những với người đã các này để khi",
    "hr": "i je u se na da za od su a što kao ne bi s iz koji nije ali sve biti bio",
}


@cache
def _letter_patterns() -> dict[str, Any]:  # the regex package has no types
    import regex

    names = {name for scripts in _SCRIPTS.values() for name in scripts.split()} | {"Latin"}
    return {name: regex.compile(rf"\p{{Script={name}}}") for name in names} | {"any": regex.compile(r"\p{L}")}


@cache
def _languages_of_word() -> dict[str, tuple[str, ...]]:
    by_word: dict[str, list[str]] = {}
    for language, words in _FUNCTION_WORDS.items():
        for word in set(words.split()):
            by_word.setdefault(word, []).append(language)
    return {word: tuple(languages) for word, languages in by_word.items()}


def looks_foreign(text: str, lang: str) -> bool:
    """Whether ``text`` is more likely in another language than in ``lang``."""
    scripts = _SCRIPTS.get(lang, "Latin").split()
    if not (text.isascii() and "Latin" in scripts):
        patterns = _letter_patterns()
        letters = len(patterns["any"].findall(text))
        expected = sum(len(patterns[name].findall(text)) for name in scripts)
        if letters >= 4 and expected < letters / 2:
            return True
    if "Latin" not in scripts or lang not in _FUNCTION_WORDS:
        return False
    hits: Counter[str] = Counter()
    languages_of = _languages_of_word()
    words = text.lower().split()
    for word in words:
        hits.update(languages_of.get(word.strip(".,;:!?\"'()[]“”„«»…"), ()))
    own = hits.pop(lang, 0)
    best = max(hits.values(), default=0)
    # two more of another language's words than of our own, and at least twice as many; one will do where a text is
    # too long to have none of our own
    return best >= max(own + 2, 2 * own) or (own == 0 and best > 0 and len(words) >= 6)
