"""The texts around those that are asked for: of every length, the same in every run."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from random import Random

TITLE_CHARS = 100
SEED = 20
SHORT, SUBJECTS, LINES, REPORTS, TURNS = 600, 450, 350, 100, 700

_DOING = (
    "fix", "tidy", "rename", "test", "sort", "log", "check", "move", "split", "merge", "drop",
    "update",
)  # fmt: skip
_WHOSE = (
    "device", "search", "order", "invoice", "photo", "report", "mail", "label", "import", "admin",
    "login", "page",
)  # fmt: skip
_THING = (
    "list", "view", "box", "field", "name", "cache", "job", "queue", "table", "form", "image",
    "key", "page", "export", "index", "date",
)  # fmt: skip
_PLACES = (
    "the editor", "the warehouse", "the shop", "the gateway", "the phone app", "the archive",
    "the pipeline", "the office", "the worker", "the library", "the clinic", "the new host",
)  # fmt: skip
_TIMES = (
    "after a restart", "on Mondays", "since the move", "at night", "once a week", "in March",
    "before each release", "while the network is down", "when two people edit", "for old clients",
)  # fmt: skip
_PEOPLE = (
    "Support", "The operator", "Kim", "The finance team", "A pupil", "The supplier", "Our auditor",
    "The driver", "A volunteer", "The designer", "Dr. Weiss", "The tenant upstairs",
)  # fmt: skip
_DID = (
    "asked for a larger {thing} in {place} {time}",
    "found that the {thing} of {place} is empty {time}",
    "keeps the {whose} {thing} in {place} and looks at it {time}",
    "wants the {whose} {thing} to be read only {time}",
    "moved the {thing} out of {place}, which is locked {time}",
    "counts each {whose} {thing} twice {time}, and nobody in {place} minds",
    "paid for the {whose} of {place} and sends the {thing} {time}",
    "turned the {thing} off {time} because {place} was too warm",
    "writes the {whose} {thing} by hand {time}",
    "lost the {whose} {thing} on the way to {place}",
)
_NAMES = ("Nora", "Felix", "Amir", "June", "Petra", "Olu", "Tess", "Ravi")
_SMALL = (
    "{name}: That sounds great! How did the {topic} go?",
    "{name}: I was thinking of you when I saw the {topic} yesterday.",
    "{name}: Same here, the {topic} takes all of my evenings.",
    "{name}: Ha, my {topic} is a mess at the moment.",
    "{name}: Wow, I would love to hear more about the {topic}.",
    "{name}: We talked about the {topic} with the neighbours, they agree with you.",
    "{name}: Not much new, only the {topic}, and the weather has been awful.",
    "{name}: Thanks! Your {topic} made my day, I told everybody at work.",
    "{name}: Let me know when the {topic} is over, then we meet for coffee.",
    "{name}: Do you remember the {topic} of last summer? I found pictures of it.",
)
_TOPICS = (
    "garden", "concert", "exam", "new job", "trip", "dog", "kitchen", "choir", "race", "move",
    "wedding", "car", "book", "boat", "course", "party", "knee", "flat", "show", "team",
    "holiday", "cake", "bike", "loan", "market", "swimming", "library", "photo", "museum", "ferry",
)  # fmt: skip


def notes() -> Iterator[str]:
    """Yield notes of a few words, subjects of commits, lines and reports of a day, mixed."""
    draw = Random(SEED)  # noqa: S311 - the same texts in every run, nothing secret
    short = [" ".join(words) for words in product(_DOING, _WHOSE, _THING)]
    texts = draw.sample(short, SHORT)
    texts += (_subject(draw) for _ in range(SUBJECTS))
    texts += (_line(draw) for _ in range(LINES))
    texts += (" ".join(_line(draw) for _ in range(draw.randint(5, 12))) for _ in range(REPORTS))
    draw.shuffle(texts)
    yield from texts


def turns() -> Iterator[str]:
    """Yield turns of small talk by those who also say what is asked for."""
    every = [
        form.format(name=name, topic=topic)
        for form, name, topic in product(_SMALL, _NAMES, _TOPICS)
    ]
    yield from Random(SEED).sample(every, TURNS)  # noqa: S311 - as above


def _subject(draw: Random) -> str:
    words = f"{draw.choice(_DOING)} the {draw.choice(_WHOSE)} {draw.choice(_THING)}"
    return f"{words} of {draw.choice(_PLACES)} {draw.choice(_TIMES)}".capitalize()


def _line(draw: Random) -> str:
    said = draw.choice(_DID).format(
        whose=draw.choice(_WHOSE), thing=draw.choice(_THING),
        place=draw.choice(_PLACES), time=draw.choice(_TIMES),
    )  # fmt: skip
    return f"{draw.choice(_PEOPLE)} {said}."


_THINGS = (
    "pottery", "chess", "violin", "carpentry", "falcon", "harp", "quilt", "kite", "telescope",
    "origami", "beekeeping", "sunflower", "canoe", "lantern", "astronomy", "calligraphy", "ukulele",
    "mosaic", "terrier", "yoga", "accordion", "tapestry", "robot", "geology", "puppet",
)  # fmt: skip
_TOWNS = (
    "Porto", "Bergen", "Cork", "Graz", "Tartu", "Leeds", "Malmo", "Nice", "Parma", "Basel", "Ghent",
    "Lublin", "Varna", "Oulu", "Brno", "Cadiz", "Aarhus", "Split", "Kiel", "Turin",
)  # fmt: skip
EACH = 9


def events(forms: list[str]) -> tuple[list[str], list[tuple[str, int]]]:
    """Return what people tell in the same forms of different things, and questions about each."""
    draw = Random(SEED)  # noqa: S311 - as above
    turns, asked = [], []
    for form in forms:
        told, question = form.split(" | ")
        for x in draw.sample(_THINGS, EACH):
            filled = {"a": draw.choice(_NAMES), "x": x, "y": draw.choice(_TOWNS)}
            asked.append((question.format(**filled), len(turns)))
            turns.append(told.format(**filled))
    return turns, asked
