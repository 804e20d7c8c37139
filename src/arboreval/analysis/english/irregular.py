"""Irregular inflections of English, for words that the treebanks do not show often enough to learn them."""

__all__ = ["NOUNS", "VERBS"]

# base, past, participle where it is another form
_VERBS = """
arise arose arisen, awake awoke awoken, be was been, bear bore borne, beat beat beaten, become became become, befall
befell befallen, beget begot begotten, begin began begun, behold beheld, bend bent, bereave bereft, beseech besought,
beset beset, bet bet, bid bid bidden, bind bound, bite bit bitten, bleed bled, blow blew blown, break broke broken,
breed bred, bring brought, broadcast broadcast, build built, burn burnt, burst burst, buy bought, cast cast, catch
caught, choose chose chosen, cleave cleft, cling clung, come came come, cost cost, creep crept, cut cut, deal dealt,
dig dug, dive dove, do did done, draw drew drawn, dream dreamt, drink drank drunk, drive drove driven, dwell dwelt,
eat ate eaten, fall fell fallen, feed fed, feel felt, fight fought, find found, flee fled, fling flung, fly flew
flown, forbid forbade forbidden, forget forgot forgotten, forgive forgave forgiven, forsake forsook forsaken, freeze
froze frozen, get got gotten, give gave given, go went gone, grind ground, grow grew grown, hang hung, have had, hear
heard, hew hewed hewn, hide hid hidden, hit hit, hold held, hurt hurt, input input, keep kept, kneel knelt, know knew
known, lay laid, lead led, lean leant, leap leapt, learn learnt, leave left, lend lent, let let, lie lay lain, light
lit, lose lost, make made, mean meant, meet met, mistake mistook mistaken, mow mowed mown, pay paid, plead pled, prove
proved proven, put put, quit quit, read read, rid rid, ride rode ridden, ring rang rung, rise rose risen, run ran run,
saw sawed sawn, say said, see saw seen, seek sought, sell sold, send sent, set set, sew sewed sewn, shake shook
shaken, shear sheared shorn, shed shed, shine shone, shoe shod, shoot shot, show showed shown, shrink shrank shrunk,
shut shut, sing sang sung, sink sank sunk, sit sat, slay slew slain, sleep slept, slide slid, sling slung, slink
slunk, slit slit, smell smelt, smite smote smitten, sneak snuck, sow sowed sown, speak spoke spoken, speed sped, spell
spelt, spend spent, spill spilt, spin spun, spit spat, split split, spoil spoilt, spread spread, spring sprang sprung,
stand stood, steal stole stolen, stick stuck, sting stung, stink stank stunk, strew strewed strewn, stride strode
stridden, strike struck stricken, string strung, strive strove striven, swear swore sworn, sweep swept, swell swelled
swollen, swim swam swum, swing swung, take took taken, teach taught, tear tore torn, tell told, think thought, thrive
throve thriven, throw threw thrown, thrust thrust, tread trod trodden, wake woke woken, wear wore worn, weave wove
woven, weep wept, win won, wind wound, wring wrung, write wrote written
"""
# singular, plural; those in -men, -ies and the like are regular for :mod:`~arboreval.analysis.english.lemma`
_NOUNS = """
alga algae, alumnus alumni, analysis analyses, antenna antennae, appendix appendices, axis axes, bacillus bacilli,
bacterium bacteria, basis bases, cactus cacti, calf calves, catharsis catharses, child children, corpus corpora,
crisis crises, criterion criteria, curriculum curricula, diagnosis diagnoses, die dice, dwarf dwarves, elf elves,
ellipsis ellipses, emphasis emphases, erratum errata, foot feet, formula formulae, fungus fungi, genesis geneses,
genus genera, goose geese, half halves, hoof hooves, hypothesis hypotheses, index indices, knife knives, larva larvae,
leaf leaves, life lives, loaf loaves, locus loci, louse lice, matrix matrices, metamorphosis metamorphoses, mouse
mice, nebula nebulae, neurosis neuroses, nucleus nuclei, oasis oases, ovum ova, ox oxen, parenthesis parentheses,
phenomenon phenomena, prognosis prognoses, psychosis psychoses, quiz quizzes, radius radii, scarf scarves, self
selves, shelf shelves, spectrum spectra, stimulus stimuli, stratum strata, syllabus syllabi, symposium symposia,
synopsis synopses, synthesis syntheses, terminus termini, thesis theses, thief thieves, tooth teeth, vertebra
vertebrae, vertex vertices, wharf wharves, wife wives, wolf wolves
"""


def _bases(rows: str) -> dict[str, str]:
    """The base of each other form."""
    return {form: base for base, *forms in map(str.split, rows.split(",")) for form in forms}


#: pasts and participles
VERBS = _bases(_VERBS)
#: plurals
NOUNS = _bases(_NOUNS)
