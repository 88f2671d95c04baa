"""The few keywords of an event, taken from its text or from a table.

A concept is in lower case; at most `AT_MOST` are given, the most important first. The tables of
`languages` (by file name) and `TOOLS` (by program) are the only sources of words that the event
itself does not contain.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from itertools import chain

from observer.code.languages import KEYWORDS, language_of
from observer.core.text import distinct, word_set
from observer.redaction.secrets import MARKER

AT_MOST = 8

TOOLS: dict[str, tuple[str, ...]] = {
    **{
        name: (name, "testing") for name in ("pytest", "unittest", "jest", "vitest", "mocha", "tox")
    },
    **{name: (name, "linting") for name in ("ruff", "eslint", "flake8", "pylint", "clippy")},
    **{name: (name, "formatting") for name in ("black", "prettier", "rustfmt", "gofmt")},
    **{name: (name, "types") for name in ("mypy", "pyright", "tsc")},
    **{name: (name, "packages") for name in ("npm", "pnpm", "yarn", "pip", "uv", "poetry", "apt")},
    **{
        name: (name, "build")
        for name in ("make", "cmake", "gradle", "mvn", "bazel", "gcc", "clang")
    },
    **{name: (name, "containers") for name in ("docker", "podman", "kubectl", "helm")},
    **{name: (name, "database") for name in ("psql", "sqlite3", "mysql", "redis-cli", "alembic")},
    **{name: (name, "http") for name in ("curl", "wget")},
    **{name: (name, "infrastructure") for name in ("terraform", "ansible", "aws", "gcloud")},
    "git": ("git",),
    "gh": ("gh", "github"),
    "cargo": ("cargo", "rust"),
    "go": ("go",),
    "node": ("node", "javascript"),
    "playwright": ("playwright", "testing"),
}
"""Program -> concepts; the table from which a command's concepts follow."""

_EMPTY_FOLDERS = word_set(
    """
    src lib app apps packages pkg cmd internal main home users var tmp usr opt work workspace index
    dist build out node_modules mnt root private code projects repos public static init mod
    """
)
_STOP = KEYWORDS | word_set(
    """
    a about add added after again all also an and any are as at back be because been before being
    below between both but by can change changed changes check come could did do does doing done
    down each every few file files first fix fixed fixes for found from get give go going good had
    has have having he help her here him his how i if in instead into is it its just keep know last
    let like line lines look make makes many may me merge might more most much must my need needs
    new next no not now of off ok okay old on once one only or other our out over own please put
    ran run same see set she should show so some still such sure take test tests than that the
    their them then there these they thing things this those though through to too try two under
    until up update updated updates us use used uses using very want was way we well were what when
    where which while who why https www will with without work would yes yet you your without
    """
)
_FOREIGN_STOP = word_set(
    """
    aber alle alles als auch auf aus bei beim bitte dann das dass dem den der des dich die dies
    diese diesem diesen dieser dieses doch durch eine einem einen einer eines für gibt hat habe
    haben ich immer ist jetzt kann kein keine können mach machen mehr mich mit muss müssen nach
    nicht noch nur oder ohne sein sich sie sind soll sollen sollte über und uns unter vom von
    warum weil wenn werden wie wieder wir wird wurde zum zur zwischen afin alors après aussi aux
    avant avec avoir ceci cela ces cet cette chez comme dans depuis dois donc elle elles encore
    entre est être faire fais faut ici ils les leur leurs lors mais même mes moi mon nos notre
    nous par parce pas peut peux plus pour pourquoi quand que quel quelle qui quoi ses son sont
    sous sur tes toi tous tout toute toutes très une vers voir vos votre vous ahora ante así
    aunque aún cada como con cual cuando debe desde donde dónde ella ellos entonces era eres esa
    ese eso está están esta estas este esto estos favor fue hace hacer hacia hasta hay haz las
    los más muy nada nuestra nuestro otra otro para pero poner por porque puede puedes qué quien
    sea ser sobre solo sus también tanto tiene todas todo todos tus una uno unos usar agora
    ainda antes aos aquela aquele até com depois deve dos ela ele eles então essa esse estão
    estar fazer foi isso isto mas mesmo meu minha muito não nas nem nossa nosso numa onde pela
    pelo pode pois pra quando quem sem seu seus são tem ter uma você vocês agli alla allo anche
    ancora che chi cosa così dal dalla dalle degli dei della delle dello devi dopo gli hanno
    invece loro mentre mia mio molto nei nel nella nelle noi non nostra nostro ogni per perché
    però più poi prima può quale quella quello questa queste questi questo sempre senza sia
    siamo sono stato sua sul sulla sulle suo tra tutte tutti tutto vuole aan alleen altijd bij
    daar dan dat deze dit doen een eens geen graag haar heb hebben heeft het hier hoe hun iets
    jij jouw kan kunnen maar maak maken meer met mij mijn moet moeten naar niet niets nog ons
    ook tussen uit van veel voor waar waarom wat werd wij wil worden wordt zal zich zijn zonder
    без был была были было быть вас вам весь вот все всё всех где даже для добавь его если есть
    ещё еще здесь или именно как какая какие какой когда которая которые который кто лучше меня
    мне можно мой над надо нам нас него нет них нужно она они оно отсюда перед под после потом
    почему при про сделай сейчас слишком так также такой там тебя тебе теперь тогда того тоже
    только тут уже хочу чего чем через что чтобы эта эти это этого этой этом этот
    """  # noqa: RUF001 - Russian
)
"""Function words of German, French, Spanish, Portuguese, Italian, Dutch and Russian.

Those that name things in English or in code (`car`, `door`, `sin`) are left out.
"""
_IGNORED = _STOP | _EMPTY_FOLDERS
_IGNORED_IN_TEXT = _IGNORED | _FOREIGN_STOP
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[A-Z]+")
_WORD = re.compile(r"\w[\w-]{2,30}")


def of_files(paths: Iterable[str], symbols: Iterable[str] = ()) -> tuple[str, ...]:
    """Return the concepts of some paths, then of the symbols touched in them."""
    found: list[str] = []
    for path in paths:
        found += of_path(path)
    for symbol in symbols:
        found += identifier_words(symbol)
    return distinct(found, AT_MOST)


@lru_cache(maxsize=4096)
def of_path(path: str) -> tuple[str, ...]:
    """Return a file's language, the words of its name and of its two nearest folders."""
    folders, _, name = path.rpartition("/")
    found = [language_of(path), *identifier_words(name.partition(".")[0])]
    for folder in folders.split("/")[:-3:-1]:
        found += identifier_words(folder)
    return distinct(found, AT_MOST)


@lru_cache(maxsize=8192)
def identifier_words(name: str) -> tuple[str, ...]:
    """Return the words of an identifier: ``verifyToken2`` -> ``("verify", "token")``."""
    words = (word.lower() for word in _PARTS.findall(name[:100]))
    return tuple(word for word in words if len(word) > 2 and word not in _IGNORED)


def of_tools(tools: Iterable[str]) -> tuple[str, ...]:
    """Return the concepts of programs, as `TOOLS` lists them."""
    return together(*[TOOLS.get(tool, ()) for tool in tools])


def of_text(text: str, at_most: int = AT_MOST) -> tuple[str, ...]:
    """Return the keywords of prose, by frequency, then by position."""
    counts: dict[str, int] = {}
    for word in _WORD.findall(MARKER.sub(" ", text[:2000]).lower()):
        if word not in _IGNORED_IN_TEXT and word[0].isalpha():
            name = word.rstrip("-_")
            counts[name] = counts.get(name, 0) + 1
    return tuple(sorted(counts, key=counts.__getitem__, reverse=True)[:at_most])


def together(*sources: Iterable[str]) -> tuple[str, ...]:
    """Return the concepts of several sources, in their order, without duplicates."""
    return distinct(chain.from_iterable(sources), AT_MOST)
