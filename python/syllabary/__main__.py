"""The `syllabary` command, and `python -m syllabary`, which is the same.

Leaves out: everything but its start (`cli`).
"""

import sys


def main() -> None:
    """Run the command; Ctrl-C before a verb is at work ends it with 130, as later, and says nothing."""
    try:
        from syllabary.cli import main as verbs

        verbs(prog_name="syllabary")
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
