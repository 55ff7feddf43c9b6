"""Who may import whom: data goes one way through the folders of borel; and class names.

Every import counts: at the top, for types only, inside a function, ``import borel`` and
``import_module`` with a name written out.
"""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

import borel as bl

PACKAGE = Path(bl.__file__).parent

ORDER = """
errors _version constants progress settings colours _compat
checker
numerics
probability
mechanisms
engine.problem engine.kernels engine.divergences engine.infinite engine.finite engine.countable
engine.continuous engine.estimates engine.envelopes engine.prior_sets engine.draws engine
engine.certificates
figures envelope_bounds
priors
databases guarantees adversaries
disclosures design
audits.plots audits
names claims models testing cli
""".split()
"""Folders and files in the order of flow: each imports from itself and from those before it.

``names`` are the public names of the package, as ``import borel`` gives them.
"""


@cache
def sources():
    files = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        if parts[0] != "_models" and parts != ("__init__",):
            files[".".join(parts).removesuffix(".__init__")] = path
    return files


@cache
def tree(path):
    return ast.parse(path.read_text(encoding="utf-8"))


def called(node):
    return getattr(node.func, "attr", getattr(node.func, "id", ""))


def named(node, of):
    """Yield the modules of borel, without ``borel.``, that an import statement names."""
    if isinstance(node, ast.ImportFrom):
        assert not node.level, f"{of}: a relative import"
        base = node.module or ""
        if base.partition(".")[0] == "borel":
            for alias in node.names:
                yield f"{base}.{alias.name}"
    elif isinstance(node, ast.Import):
        yield from (a.name for a in node.names if a.name.partition(".")[0] == "borel")
    elif isinstance(node, ast.Call) and called(node) == "import_module":
        text = node.args[0]
        if isinstance(text, ast.Constant):
            yield str(text.value)
        elif isinstance(text, ast.JoinedStr):  # the part that is written out
            yield str(getattr(text.values[0], "value", "")).rstrip(".")


@cache
def imports():
    """Return the pairs (importing module, imported module), both without ``borel.``."""
    found = set()
    for of, path in sources().items():
        for node in ast.walk(tree(path)):
            for name in named(node, of):
                parts = name.split(".")[1:]
                while parts and ".".join(parts) not in sources():
                    parts = parts[:-1]
                to = ".".join(parts) or "names"
                if to != of:
                    found.add((of, to))
    return found


def room(module):
    """Return the entry of `ORDER` that a module belongs to, the longest one."""
    fits = [r for r in ORDER if f"{module}.".startswith(f"{r}.")]
    assert fits, f"{module} has no place in ORDER"
    return max(fits, key=len)


def backward(pair):
    of, to = pair
    return ORDER.index(room(to)) > ORDER.index(room(of))


def circles(pairs):
    """Return the sets of modules that import each other in a circle."""
    files = {name for pair in pairs for name in pair}
    reach = {name: {to for of, to in pairs if of == name} for name in files}
    grown = True
    while grown:
        grown = False
        for name in files:
            more = set().union(*(reach[to] for to in reach[name])) - reach[name]
            grown |= bool(more)
            reach[name] |= more
    return {
        frozenset(other for other in reach[name] if name in reach[other])
        for name in files
        if name in reach[name]
    }


# -- what is allowed, with its reason -------------------------------------------------------------

ALLOWED = {
    ("audits.study_template", "names"): "`borel init` writes it for a user; no module reads it",
    ("priors.sets", "priors.set_operations"): "a | b and a & b are operators of every set; what "
    "they make are sets of their own kinds",
}

CIRCLES = """
probability.joint probability.kernel_operations probability.mechanism
    probability.mechanism_families
""".strip()
"""Circles of files, ALLOWED apart, that are still there: this list may only get
shorter."""


def test_every_module_has_a_place():
    assert {room(name) for name in sources()} <= {*ORDER}


def test_data_goes_one_way():
    against = {f"{of} -> {to}" for of, to in imports() if backward((of, to))}
    allowed = {f"{of} -> {to}" for of, to in ALLOWED}
    assert sorted(against - allowed) == []


def test_every_exception_is_needed():
    forward = {pair for pair in imports() if not backward(pair)}
    found = circles(forward)
    in_circles = {pair for pair in forward if any(circle >= {*pair} for circle in found)}
    assert imports() - forward | in_circles >= {*ALLOWED}


def test_no_files_import_each_other_in_a_circle():
    forward = {pair for pair in imports() if not backward(pair)} - {*ALLOWED}
    assert sorted(map(sorted, circles(forward))) == sorted(
        c.split() for c in re.split(r"\n(?! )", CIRCLES)
    )


def test_a_class_name_means_one_thing():
    """Public ones, as a name with an underscore is of its own file; the checker stands apart."""
    where = {}
    for module, path in sources().items():
        if room(module) != "checker":
            for node in ast.walk(tree(path)):
                if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                    where.setdefault(node.name, []).append(module)
    assert {name: files for name, files in where.items() if len(files) > 1} == {}


READ = {"items", "keys", "values", "get"}
"""What may be called on the attributes of an object: it changes none of them."""

HIDDEN = {
    "checker.tables": "a list that holds itself is read once; the list itself is no key",
    "audits.study_key": "a function that calls itself is read once",
    "audits.study": "a study's file runs in the namespace of its module",
    "audits.serialisation": "reads the attributes of a class; None has no __dict__",
    "probability.pickling": "takes the attributes of a pickle back",
}
"""Files that may use `id` as a key, or the attributes of an object as a dict, with the reason."""


def hidden(source):
    """Yield the lines at which attributes may be written by string, or `id` is called."""
    parents = {child: node for node in ast.walk(source) for child in ast.iter_child_nodes(node)}
    for node in ast.walk(source):
        call = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id
        if call == "id" and len(node.args) == 1:
            yield node.lineno
        if not (call == "vars" or getattr(node, "attr", getattr(node, "value", "")) == "__dict__"):
            continue
        around = parents[node]
        unpacked = (None, node) in (
            [(around.arg, around.value)]
            if isinstance(around, ast.keyword)
            else [*zip(getattr(around, "keys", ()), getattr(around, "values", ()), strict=True)]
        )
        if not unpacked and getattr(around, "attr", "") not in READ:
            yield node.lineno


def test_what_is_kept_is_kept_in_a_memo():
    """Not among the attributes, by a string, nor by `id`, which is another object's later on."""
    found = {name for name, path in sources().items() if [*hidden(tree(path))]}
    assert found == HIDDEN.keys()


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("known = prior.__dict__", True),
        ("prior.__dict__['_miss'] = 1", True),
        ("prior.__dict__.setdefault('_miss', {})", True),
        ("vars(prior)['_miss'] = 1", True),
        ("getattr(prior, '__dict__')['_miss'] = 1", True),
        ("known[id(prior)] = 1", True),
        ("known = {id(p) for p in priors}", True),
        ("Values(**{**values.__dict__, 'lower': 1})", False),
        ("options(**vars(chosen))", False),
        ("vars(prior).items()", False),
    ],
)
def test_it_is_seen_where_something_is_hidden(line, found):
    assert [*hidden(ast.parse(line))] == [1] * found


def test_these_tests_see_imports_of_every_kind():
    """One of each kind, found in the package as it is."""
    code = """
if TYPE_CHECKING:
    from borel.errors import InvalidInput
def f():
    import borel.engine.finite
    import_module("borel.priors")
    import_module(f"borel.claims.{name}")
    import borel as bl
"""
    seen = [name for node in ast.walk(ast.parse(code)) for name in named(node, "here")]
    assert sorted(seen) == [
        "borel",
        "borel.claims",
        "borel.engine.finite",
        "borel.errors.InvalidInput",
        "borel.priors",
    ]
