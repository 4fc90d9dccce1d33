"""What chat templates run in: Jinja2's immutable sandbox, as `transformers` sets it up, with bounds.

Source of the set-up: transformers 5.23, `utils/chat_template_utils.py`: `trim_blocks`, `lstrip_blocks`,
`break` and `continue`, `raise_exception`, `strftime_now`, a `tojson` that escapes no HTML, `{% generation
%}`. Adds the bounds: loops, calls, filters and joined text are counted and sized. Leaves out: `lipsum`, which
makes random text; files (`include`, `import`); messages (`rendering`).
"""

from __future__ import annotations

import functools
import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Any

from syllabary.chat import bounds
from syllabary.chat.backend import jinja2

JOINED, COUNTED, WEIGHED = " joined", " counted", " weighed"  # filters that no template can name
UNPADDED = re.compile(r"(%%)|%-")
STRIPPING = ("strip", "lstrip", "rstrip")
PADDING = ("center", "ljust", "rjust", "zfill", "expandtabs")
# Filters with a number whose size decides the size of the result.
WIDE = ("batch", "center", "filesizeformat", "indent", "round", "slice", "tojson", "truncate", "wordwrap")
# Filters that look at no part of their value, and at each once; all others may write it out.
AT_ONCE = ("attr", "count", "d", "default", "first", "last", "length", "random")
THROUGH = (
    *("batch", "dictsort", "items", "list", "map", "reject", "rejectattr", "reverse", "select", "selectattr"),
    *("slice", "sum"),
)


class RefusedError(Exception):
    """What a template says with `raise_exception`."""


class Bounded(jinja2.visitor.NodeTransformer):
    """Sends loops, and texts joined with `~`, through filters that count: no operator to intercept there."""

    def visit_For(self, node: jinja2.nodes.For) -> jinja2.nodes.Node:  # noqa: N802 (Jinja2's name)
        """A loop over a counted iterable."""
        self.generic_visit(node)
        node.iter = _filtered(node.iter, COUNTED)
        return node

    def visit_Concat(self, node: jinja2.nodes.Concat) -> jinja2.nodes.Node:  # noqa: N802 (Jinja2's name)
        """`a ~ b ~ c` as a list, joined."""
        self.generic_visit(node)
        return _filtered(jinja2.nodes.List(node.nodes, lineno=node.lineno), JOINED)

    def visit_List(self, node: jinja2.nodes.List) -> jinja2.nodes.Node:  # noqa: N802 (Jinja2's name)
        """A list that is in bounds, all that it holds written out."""
        self.generic_visit(node)
        return _filtered(node, WEIGHED)

    visit_Dict = visit_List  # noqa: N815 (Jinja2's name)

    def visit_Tuple(self, node: jinja2.nodes.Tuple) -> jinja2.nodes.Node:  # noqa: N802 (Jinja2's name)
        """The same, where it is no list of names to assign to."""
        self.generic_visit(node)
        return _filtered(node, WEIGHED) if node.ctx == "load" else node


def _filtered(node: Any, name: str) -> jinja2.nodes.Filter:
    return jinja2.nodes.Filter(node, name, [], [], None, None, lineno=node.lineno)


class Generation(jinja2.ext.Extension):
    """`{% generation %}…{% endgeneration %}`: what the assistant wrote, for the mask of its tokens."""

    tags = {"generation"}  # noqa: RUF012 (Jinja2's way)

    def parse(self, parser: jinja2.parser.Parser) -> jinja2.nodes.Node:
        """The block as a call that is given its body."""
        line = next(parser.stream).lineno
        body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        return jinja2.nodes.CallBlock(self.call_method("_written"), [], [], body).set_lineno(line)

    def _written(self, caller: Callable[[], str]) -> str:
        text = caller()
        if (run := bounds.current()) is not None:
            run.spans.append((run.characters, text))
        return text


class Environment(jinja2.sandbox.ImmutableSandboxedEnvironment):
    """The sandbox with the bounds."""

    intercepted_binops = frozenset(("+", "*", "**", "%"))
    concat = staticmethod(bounds.joined)  # of blocks, macros, the whole

    def __init__(self) -> None:
        super().__init__(
            trim_blocks=True,
            lstrip_blocks=True,
            extensions=[Generation, jinja2.ext.loopcontrols],
            finalize=bounds.weighed,
        )
        self.binop_table |= {
            "+": bounds.plus,
            "*": bounds.times,
            "**": bounds.power,
            "%": bounds.modulo,
        }
        self.filters = {name: _bounded(name, function) for name, function in self.filters.items()}
        self.filters |= {"tojson": _bounded("tojson", tojson), JOINED: _joined}
        self.filters |= {COUNTED: _counted, WEIGHED: bounds.weighed}
        self.globals.pop("lipsum")
        self.globals |= {
            "raise_exception": raise_exception,
            "strftime_now": strftime_now,
            "dict": Dictionary(),
            "namespace": Namespace,
        }

    def call(__self, __context: Any, __obj: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N805
        """Every call of a template: counted, and sized where it is a method of text."""
        bounds.step()
        owner = getattr(getattr(__obj, "__wrapped__", __obj), "__self__", None)
        if isinstance(owner, bounds.TEXT):
            args = _sized(owner, __obj.__name__, args, kwargs)
        elif isinstance(owner, int) and __obj.__name__ == "to_bytes":
            bounds.narrow(args, kwargs)
        elif isinstance(__obj, Dictionary) or __obj is Namespace:
            bounds.weighed([*args, *kwargs.values()])
        return bounds.fits(super().call(__context, __obj, *args, **kwargs))

    def unsafe_undefined(self, obj: Any, attribute: str) -> jinja2.Undefined:
        """An error at once: Jinja2 prints such a value as nothing."""
        raise jinja2.exceptions.SecurityError(f"{attribute!r} of {type(obj).__name__} is not for templates")

    def _generate(self, source: jinja2.nodes.Template, *args: Any, **kwargs: Any) -> str:
        return super()._generate(Bounded().visit(source), *args, **kwargs)


def _sized(text: Any, method: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
    """The arguments of a method of text or bytes, once the size of its result is known to be in bounds."""
    bounds.handled(text)
    if method in PADDING:
        widths = tuple(one for one in args if isinstance(one, int))
        bounds.indented(bounds.as_text(text), widths, kwargs)
    elif method == "replace":
        bounds.replaced(text, args, kwargs)
    elif method in STRIPPING:
        bounds.stripped(text, args, kwargs)
    elif method == "translate":
        bounds.translated(text, args)
    elif method in ("encode", "decode"):
        bounds.coded(text, args, kwargs)
    elif method in ("format", "format_map"):
        bounds.weighed([*args, *kwargs.values()])
        mapping = method == "format_map" and args and isinstance(args[0], Mapping)
        bounds.braces(text, () if mapping else args, args[0] if mapping else kwargs)
    elif method == "join" and args:
        items = list(_counted(args[0]))
        bounds.sized(sum(len(item) + len(text) for item in items if isinstance(item, bounds.TEXT)))
        return (items, *args[1:])
    return args


# Filters of text -> what looks at the size of their result.
SIZES: dict[str, Callable[[str, tuple[Any, ...], Mapping[str, Any]], None]] = {
    "indent": lambda text, rest, named: bounds.indented(
        text, tuple(one for one in rest if not isinstance(one, bool)), named
    ),
    "replace": bounds.replaced,
    "wordwrap": bounds.wrapped,
    "trim": bounds.stripped,
    "format": lambda text, rest, named: bounds.percent(text, named or rest),
}


def _bounded(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """A filter that is counted, by the size of what it is given, and whose numbers are small."""
    passed = hasattr(function, "jinja_pass_arg")  # the first argument is the context or the environment

    @functools.wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        value, rest = args[passed] if len(args) > passed else None, args[1 + passed :]
        _handled(name, value)
        if name in WIDE:
            bounds.narrow(rest, kwargs)
        if name in SIZES and isinstance(value, str):
            SIZES[name](value, rest, kwargs)
        elif name == "tojson":
            bounds.laid_out(value, rest, kwargs)
        elif name == "join":
            items = bounds.weighed(list(_counted(value)))
            separator = next((one for one in (*rest, *kwargs.values()) if isinstance(one, str)), "")
            bounds.sized(sum(len(separator) + (len(one) if isinstance(one, str) else 1) for one in items))
            args = (*args[:passed], items, *rest)
        result = function(*args, **kwargs)
        bounds.handled(result)
        return bounds.fits(result)

    return run


def _handled(name: str, value: Any) -> None:
    """The steps for a filter to go through its value: by what it does with it."""
    if name in AT_ONCE:
        bounds.step()
    elif name in THROUGH:
        bounds.handled(value)
    else:
        bounds.handled(bounds.weighed(value))


def _joined(parts: list[Any]) -> str:
    """The texts of values, joined: what `~` does."""
    return bounds.joined(map(str, bounds.weighed(parts)))


def _counted(items: Any) -> Iterator[Any]:
    """The same items, one step each."""
    for item in items:
        bounds.step()
        yield item


# ---- what a template may call ----


def raise_exception(message: object) -> str:
    """Stop, with a message for whoever wrote the conversation."""
    raise RefusedError(str(message))


def strftime_now(pattern: str) -> str:
    """The time here, by `pattern`; `%-d`, a number without zeros in front, is `%#d` on Windows."""
    bounds.percent(pattern)
    if sys.platform == "win32":
        pattern = UNPADDED.sub(lambda found: found[1] or "%#", pattern)
    return datetime.now().strftime(pattern)


def tojson(
    value: object,
    ensure_ascii: bool = False,
    indent: int | str | None = None,
    separators: tuple[str, str] | None = None,
    sort_keys: bool = False,
) -> str:
    """JSON that is not escaped for HTML."""
    return json.dumps(
        value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys
    )


class Dictionary:
    """`dict` without the attributes of the type."""

    def __call__(self, *args: Any, **kwargs: Any) -> dict[Any, Any]:
        """A new dictionary."""
        return dict(*args, **kwargs)

    def fromkeys(self, *args: Any) -> dict[Any, Any]:
        """`dict.fromkeys`."""
        return dict.fromkeys(*args)


class Namespace(jinja2.utils.Namespace):
    """`namespace()` without names that begin with an underscore, which lead to Python's inside."""

    def __init__(*args: Any, **kwargs: Any) -> None:  # `namespace(self=…)` is legal
        attributes = dict(*args[1:], **kwargs)
        for name in attributes:
            _public(name)
        jinja2.utils.Namespace.__init__(args[0], attributes)

    def __setitem__(self, name: str, value: Any) -> None:
        _public(name)
        super().__setitem__(name, value)


def _public(name: object) -> None:
    if isinstance(name, str) and name.startswith("_"):
        raise jinja2.exceptions.SecurityError(f"a namespace takes no attribute that begins with _: {name!r}")


@functools.lru_cache(maxsize=64)
def compiled(template: str) -> jinja2.Template:
    """The template as a program; `jinja2.TemplateError` with its line for one that is none."""
    with bounds.running():
        return Environment().from_string(template)
