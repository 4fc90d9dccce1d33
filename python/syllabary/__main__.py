"""`python -m syllabary`: the same as the `syllabary` command."""

from syllabary.cli import main

if __name__ == "__main__":
    main(prog_name="syllabary")
