"""What a chat template may not do: leave its sandbox, change what it is given, run or grow without end.

Every one is a `ChatError` that says what and in which line. Leaves out: what it may do (`test_chat`).
"""

from __future__ import annotations

import builtins
import sys
from typing import Any

import pytest

from syllabary import ChatError

pytest.importorskip("jinja2", reason="the extra chat is not installed")

from syllabary.chat import bounds, render

MESSAGES = [{"role": "user", "content": "Hi"}]
OUT = "reaches out of its sandbox"

ESCAPES = [
    "{{ ''.__class__ }}",
    "{{ ''['__class__'] }}",
    "{{ ''.__class__.__mro__[1].__subclasses__() }}",
    "{{ ''|attr('__class__') }}",
    "{{ messages|map(attribute='__class__')|list }}",
    "{{ '{0.__class__}'.format(messages) }}",
    "{{ '{a.__class__}'.format_map({'a': messages}) }}",
    "{{ dict.__class__ }}",
    "{{ cycler.__init__.__globals__ }}",
    "{{ self.__init__ }}",
    "{{ raise_exception.__globals__ }}",
    "{{ strftime_now.__globals__['os'] }}",
    "{{ ''.format.__globals__ }}",
    "{{ ''|attr('form' ~ 'at')|attr('__globals__') }}",
    "{{ namespace(__class__=1) }}",
    "{% set ns = namespace() %}{% set ns.__class__ = 1 %}",
    "{{ messages.append(1) }}",
    "{{ messages[0].update(x=1) }}",
    "{{ messages.clear() }}",
    "{% macro f() %}{% endmacro %}{{ f.__init__ }}",
]

GROWS = "makes a text of more than|makes an integer of more than"
WIDE = "width above|pads or indents by more than"
TOO_LARGE = [
    ("{{ (1).to_bytes(10**9, 'big')|length }}", WIDE),
    ("{{ (1).to_bytes(length=10**9)|length }}", WIDE),
    ("{{ ('a'.encode() * 10**9)|length }}", GROWS),
    ("{{ 'a'.encode().ljust(10**9)|length }}", WIDE),
    ("{{ '\t'.encode().expandtabs(10**9)|length }}", WIDE),
    ("{{ '%1000000000d'.encode() % 1 }}", WIDE),
    ("{{ ('a' * 10**6).encode().replace(''.encode(), ('b' * 99).encode()) }}", GROWS),
    ("{{ ('a' * 10**6)|escape|replace('a', 'b' * 99) }}", GROWS),
    ("{{ 'a'.encode().join([('b' * 10**6).encode()] * 17)|length }}", GROWS),
    ("{{ [('a' * 10**5).encode()] * 100 }}", GROWS),
    ("{{ [2**14000] * 10**4 }}", GROWS),
    ("{{ dict.fromkeys([1, 2], ['a' * 10**5] * 100).values() }}", GROWS),
    ("{{ dict.fromkeys([1, 2], ['a' * 10**5] * 100).items()|string }}", GROWS),
    ("{{ ('a ' * 10**4)|wordwrap(1, wrapstring='b' * 9999)|length }}", GROWS),
    ("{{ ('\u0390' * 6 * 10**6).upper()|length }}", GROWS),
    ("{{ ('<' * 5 * 10**6)|escape|length }}", GROWS),
    ("{{ 'a' * 10**10 }}", GROWS),
    ("{{ 10**10 * 'a' }}", GROWS),
    ("{{ [1] * 10**9 }}", GROWS),
    ("{{ 9 ** (9 ** 9) }}", GROWS),
    ("{% set ns = namespace(x=9) %}{% for i in range(60) %}{% set ns.x = ns.x * ns.x %}{% endfor %}", GROWS),
    ("{% set n = namespace(x='a') %}{% for i in range(60) %}{% set n.x = n.x + n.x %}{% endfor %}", GROWS),
    ("{% set n = namespace(x='a') %}{% for i in range(60) %}{% set n.x = n.x ~ n.x %}{% endfor %}", GROWS),
    ("{% set n = namespace(x='a') %}{% for i in range(60) %}{% set n.x = [n.x, n.x] %}{% endfor %}", GROWS),
    ("{% set n = namespace(x='a') %}{% for i in range(60) %}{% set n.x = (n.x, n.x) %}{% endfor %}", GROWS),
    (
        "{% set n = namespace(x='a') %}{% for i in range(60) %}{% set n.x = {1: n.x, 2: n.x} %}{% endfor %}",
        GROWS,
    ),
    (
        "{% set n = namespace(x=1) %}{% for i in range(60) %}{% set n.x = dict(a=n.x, b=n.x) %}{% endfor %}",
        GROWS,
    ),
    (
        "{% set n = namespace(x='a') %}{% for i in range(60) %}"
        "{% set n.x %}{{ n.x }}{{ n.x }}{% endset %}{% endfor %}",
        GROWS,
    ),
    ("{% for i in range(90000) %}{{ 'a' * 1000 }}{% endfor %}", GROWS),
    ("{{ ('x' * 100000).replace('x', 'y' * 100000) }}", GROWS),
    ("{{ ('x' * 100000)|replace('x', 'y' * 100000) }}", GROWS),
    ("{{ ('x' * 1000000).join(['a'] * 1000) }}", GROWS),
    ("{{ range(1000)|join('x' * 1000000) }}", GROWS),
    ("{{ ('\\t' * 1000000).expandtabs(9999) }}", GROWS),
    ("{{ ('ab' * 10).translate({97: 'x' * 9999999}) }}", GROWS),
    ("{{ ('a\\n' * 100000)|indent(9999) }}", GROWS),
    ("{{ 'a'.ljust(10**10) }}", WIDE),
    ("{{ 'a'|center(10**10) }}", WIDE),
    ("{{ 'a'|indent('x' * 100000) }}", WIDE),
    ("{{ messages|tojson(indent=10**9) }}", WIDE),
    ("{{ 1.5|round(10**9) }}", WIDE),
    ("{{ '{:99999999999}'.format(1) }}", WIDE),
    ("{{ '{:{}}'.format(1, 10**9) }}", WIDE),
    ("{{ '{:.99999}'.format(1.5) }}", WIDE),
    ("{{ '%99999999999d' % 1 }}", WIDE),
    ("{{ '%*d' % (10**9, 1) }}", WIDE),
    ("{{ '%(x).99999f' % {'x': 1.5} }}", WIDE),
    ("{{ '%99999999999d'|format(1) }}", WIDE),
    ("{{ strftime_now('%99999999d') }}", WIDE),
    ("{{ range(10**9) }}", "Range too big"),
    ("{{ ('%(a)s' * 99 % {'a': 'a' * 10**6})|length }}", GROWS),
    ("{{ ('%(a)s' * 99)|format(a='a' * 10**6)|length }}", GROWS),
    ("{{ ('%(a)9999s' * 9999 % {'a': 1})|length }}", GROWS),
    ("{{ ('%9999s' * 9999 % (([1] * 9999)|list))|length }}", GROWS),
    ("{{ ('{0}' * 99).format('a' * 10**6)|length }}", GROWS),
    ("{{ ('{a[b]}' * 99).format(a={'b': 'a' * 10**6})|length }}", GROWS),
    ("{{ ('{a}' * 99).format_map({'a': 'a' * 10**6})|length }}", GROWS),
    ("{{ ('{a:9999}' * 9999).format(a=1)|length }}", GROWS),
    ("{{ [[range(9999)|list]]|tojson(indent=9999)|length }}", GROWS),
    ("{{ range(9999)|list|tojson(separators=('a' * 9999, ':'))|length }}", GROWS),
]

ENDLESS = [
    "{% for i in range(9999) %}{% for j in range(9999) %}{% endfor %}{% endfor %}",
    "{% macro f(n) %}{% if n %}{{ f(n - 1) }}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(60) }}",
    "{% for x in [1, 2] recursive %}{% if loop.depth < 40 %}{{ loop([1, 2]) }}{% endif %}{% endfor %}",
    "{% for i in range(9999) %}{{ range(9999)|list|length }}{% endfor %}",
    "{% for i in range(9999) %}{{ range(9999)|sum }}{% endfor %}",
    "{{ ('a' * 99999 ~ '-' ~ 'a' * 99999).encode().decode('punycode') }}",
    "{{ ('a' * 99999)|wordwrap(1)|length }}",
    "{{ ('a' * 99999).strip('b' * 99999 ~ 'a')|length }}",
    "{{ ('a' * 99999).encode().rstrip(('b' * 99999 ~ 'a').encode())|length }}",
    "{{ ('a' * 99999)|trim('b' * 99999 ~ 'a')|length }}",
]

DEEP = [
    "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}",
    "{% for x in [1] recursive %}{{ loop([1]) }}{% endfor %}",
    "{{ " + "(" * 5000,
    "{{ " + "[" * 5000,
]

WRONG = [
    ("a\n{% if %}", "line 2: Expected an expression"),
    ("a\n\n{{ nope.x }}", "line 3, fails: UndefinedError: 'nope' is undefined"),
    ("{{ 1 + 'a' }}", "line 1, fails: TypeError"),
    ("{% include 'x' %}", "no loader"),
    ("{{ lipsum(9) }}", "'lipsum' is undefined"),
    ("{{ raise_exception('No system!') }}", "refuses the conversation: No system!"),
    ("{% generation %}", "line 1"),
    ("{{ x|nope }}", "No filter named 'nope'"),
]


@pytest.mark.parametrize("template", ESCAPES)
def test_no_way_out(template: str) -> None:
    with pytest.raises(ChatError, match=f"line 1, {OUT}"):
        render(template, MESSAGES)


@pytest.mark.parametrize("template, said", TOO_LARGE)
def test_nothing_grows_without_end(template: str, said: str) -> None:
    with pytest.raises(ChatError, match=said):
        render(template, MESSAGES)


@pytest.mark.parametrize("template", ENDLESS)
def test_nothing_runs_without_end(template: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds, "MAX_STEPS", 20_000)
    with pytest.raises(ChatError, match="takes more than 20000 steps"):
        render(template, MESSAGES)


def test_time_is_bounded_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds, "MAX_SECONDS", 0.0)
    with pytest.raises(ChatError, match="takes more than 0 seconds"):
        render("{% for m in messages %}{{ m.role }}{% endfor %}", MESSAGES)


@pytest.mark.parametrize("template", DEEP)
def test_nothing_is_nested_without_end(template: str) -> None:
    with pytest.raises(ChatError, match="nested too deeply"):
        render(template, MESSAGES)


@pytest.mark.parametrize("template, said", WRONG)
def test_errors_name_the_line(template: str, said: str) -> None:
    with pytest.raises(ChatError, match=said):
        render(template, MESSAGES)


def test_the_bounds_leave_room() -> None:
    many = [{"role": "user", "content": "word " * 200}] * 3000
    template = (
        "{% for m in messages %}{{ m.role ~ ': ' + m.content|trim }}{{ messages|length }}\n{% endfor %}"
    )
    assert len(render(template, many).text) > 3_000_000
    assert render("{{ '%5.2f|{:>6}' % 1.5 }}", MESSAGES).text == " 1.50|{:>6}"
    assert render("{{ '{:>6}'.format('a') }}{{ 'a'|center(5) }}", MESSAGES).text == "     a  a  "
    assert render("{{ '{{\"a\": {!r}}}, {}'.format('b', 2) }}", MESSAGES).text == "{\"a\": 'b'}, 2"
    assert len(render("{{ ('word ' * 99999)|wordwrap|trim('. ') }}", MESSAGES).text) == 499_994
    assert len(render("{{ [{'a': [1] * 99999}]|tojson(indent=4) }}", MESSAGES).text) > 999_999
    assert render("{{ ['a', 'b']|join(', ') }}{{ 'aXb'.replace('X', '-') }}", MESSAGES).text == "a, ba-b"


def test_a_rendering_leaves_nothing_behind() -> None:
    assert bounds.current() is None
    with pytest.raises(ChatError):
        render("{{ 'a' * 10**10 }}", MESSAGES)
    assert bounds.current() is None
    assert render("{{ messages[0].content }}", MESSAGES).text == "Hi"


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name.partition(".")[0] == "jinja2":
            raise ImportError("No module named 'jinja2'")
        return real(name, *rest)

    for name in [one for one in sys.modules if one.startswith("syllabary.chat")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ChatError, match=r"pip install 'syllabary\[chat\]'"):
        from syllabary.chat import backend  # noqa: F401
