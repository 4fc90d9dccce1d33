"""`python -m syllabary.compat.subword_nmt`. Leaves out: everything but the call."""

from syllabary.compat.subword_nmt.subword_nmt import main

if __name__ == "__main__":
    main()
