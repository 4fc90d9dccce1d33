"""tiktoken's interface over syllabary's engine: `import syllabary.compat.tiktoken as tiktoken`.

Functions, classes, arguments, ids and the texts of errors are those of tiktoken 0.14.0, whose released tests
pass against this module. docs/compatibility.md lists where it differs, on purpose, from what tiktoken does:
where tiktoken panics or never ends, this raises `ValueError`.
Leaves out: everything that tiktoken does not have (`syllabary` itself has it).
"""

from syllabary.compat.tiktoken.core import Encoding as Encoding
from syllabary.compat.tiktoken.model import encoding_for_model as encoding_for_model
from syllabary.compat.tiktoken.model import encoding_name_for_model as encoding_name_for_model
from syllabary.compat.tiktoken.registry import get_encoding as get_encoding
from syllabary.compat.tiktoken.registry import list_encoding_names as list_encoding_names

# Of the interface.
__version__ = "0.14.0"
