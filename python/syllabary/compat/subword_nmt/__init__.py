"""subword-nmt 0.3.8 by another engine: the same modules, functions, arguments and results.

Replace `subword_nmt` by `syllabary.compat.subword_nmt` in the import:

>>> import io
>>> from syllabary.compat.subword_nmt.apply_bpe import BPE
>>> from syllabary.compat.subword_nmt.learn_bpe import learn_bpe
>>> codes = io.StringIO()
>>> learn_bpe(io.StringIO("low low lower lowest"), codes, 3)
>>> BPE(codes).process_line("lowest")
'lowe@@ s@@ t'

`python -m syllabary.compat.subword_nmt` is its command line. What differs, on purpose:
- white space other than U+0020 in a word is a character like any other; there, it spoils the counts;
- `</w>` in a text that is learned from is four characters; there, once merged, it is the mark of words' ends;
- files are cut into lines at LF, CR and CRLF, whatever the number of workers;
- what dropout cut is not remembered for a later call without it;
- a glossary may hold `|` and groups;
- errors are exceptions that name the line, where it would end the process.
Leaves out: Python 2, `segment-char-ngrams`, `chrF`, and `bpe_toy`.
"""
