"""The `syllabary` command, and `python -m syllabary`, which is the same.

Leaves out: everything but its start (`cli`).
"""

import sys


def main() -> None:
    """Run the command; Ctrl-C while its modules are imported ends it with 130, as later, and says nothing."""
    try:
        from syllabary.cli import main as verbs
    except KeyboardInterrupt:
        sys.exit(130)
    verbs(prog_name="syllabary")


if __name__ == "__main__":
    main()
