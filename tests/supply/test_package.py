"""The wheel and the sdist: the same bytes, complete, with a bill of materials; they work."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile
from collections.abc import Callable
from importlib.metadata import distribution
from pathlib import Path, PurePosixPath
from typing import Any

import pytest
from supply.pins import RUNTIME, pins

from observer import __version__
from observer.core.paths import Home
from tests.support import ended

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
STEM = f"observer_memory-{__version__}"
WHEEL, SDIST = f"{STEM}-py3-none-any.whl", f"{STEM}.tar.gz"
MOST_BYTES = 30_000_000
TRACKED = [
    PurePosixPath(name)
    for name in subprocess.run(
        ["git", "-C", ROOT, "ls-files", "-z"], capture_output=True, check=True, text=True
    ).stdout.split("\0")
    if name and (ROOT / name).is_file()
]


def copied(folder: Path, *, at_s: int, umask: int) -> Path:
    """Copy the tracked files; they get another time and other permissions."""
    for name in TRACKED:
        made = folder / name
        made.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, made)
        made.chmod((ROOT / name).stat().st_mode & 0o777 & ~umask)
        os.utime(made, (at_s, at_s))
    return folder


def built(checkout: Path, *kinds: str, umask: int, **environ: str) -> Path:
    """Build in a checkout; return the folder of what was built."""
    out = checkout / "dist"
    argv = [sys.executable, "-m", "hatchling", "build", "-d", out, *kinds]
    env = {name: os.environ[name] for name in ("PATH", "HOME")} | environ
    ended(argv, cwd=checkout, env=env, umask=umask, check=True)
    return out


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    checkout = copied(tmp_path_factory.mktemp("one"), at_s=1_700_000_000, umask=0o022)
    return built(checkout, umask=0o022, TZ="UTC", LC_ALL="C")


@pytest.fixture(scope="module")
def wheel(packages: Path) -> Path:
    return packages / WHEEL


OTHERWISE = {"TZ": "Asia/Tokyo", "LC_ALL": "C.UTF-8"}


def test_time_folder_umask_and_zone_do_not_change_a_byte(packages: Path, tmp_path: Path) -> None:
    elsewhere = copied(tmp_path / "a" / "longer" / "path", at_s=1_800_000_000, umask=0o077)
    again = built(elsewhere, "-t", "sdist", umask=0o077, **OTHERWISE)
    assert (again / SDIST).read_bytes() == (packages / SDIST).read_bytes()
    with tarfile.open(packages / SDIST) as archive:
        held = {PurePosixPath(each.name).relative_to(STEM) for each in archive if each.isfile()}
    assert held == {*TRACKED, PurePosixPath("PKG-INFO")}, "every tracked file and nothing else"


def test_a_wheel_built_otherwise_from_the_sdist_is_it(packages: Path, tmp_path: Path) -> None:
    with tarfile.open(packages / SDIST) as archive:
        archive.extractall(tmp_path / "elsewhere", filter="data")
    again = built(tmp_path / "elsewhere" / STEM, "-t", "wheel", umask=0o077, **OTHERWISE)
    assert (again / WHEEL).read_bytes() == (packages / WHEEL).read_bytes()


def test_the_wheel_holds_package_hooks_and_licences_byte_for_byte(wheel: Path) -> None:
    wanted = {str(name): name for name in TRACKED if name.parts[0] == "observer"}
    wanted |= {
        str(PurePosixPath("observer/_hooks", *name.parts[1:])): name
        for name in TRACKED
        if name.parts[0] == "hooks"
    }
    wanted["observer/CHANGELOG.md"] = PurePosixPath("CHANGELOG.md")
    page = f"{STEM}.data/data/share/man/man1/observer.1"
    wanted[page] = PurePosixPath("docs/reference/observer.1")
    information = f"{STEM}.dist-info"
    wanted |= {f"{information}/licenses/{n}": PurePosixPath(n) for n in ("LICENSE", "NOTICE")}
    with zipfile.ZipFile(wheel) as archive:
        held = {name for name in archive.namelist() if not name.startswith(f"{information}/")}
        assert held == {name for name in wanted if not name.startswith(information)}
        for name, source in wanted.items():
            assert archive.read(name) == (ROOT / source).read_bytes(), name
    kinds = {PurePosixPath(name).suffix for name in wanted}
    assert {".sql", ".onnx", ".json", ".toml", ".typed", ".bash", ".zsh", ".fish"} <= kinds
    assert wheel.stat().st_size < MOST_BYTES


Run = Callable[..., str]


@pytest.fixture(scope="module")
def environment_of_wheel(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the wheel into an empty environment, beside what the lock pins and nothing else."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=False, symlinks=True)
    (site,) = folder.glob("lib/python*/site-packages")
    subprocess.run(
        [sys.executable, "-m", "pip", "--python", folder, "install", "--no-deps", "--no-index",
         "--quiet", "--disable-pip-version-check", wheel],
        check=True,
    )  # fmt: skip
    for pin in pins(RUNTIME):
        if pin.applies():
            found = distribution(pin.name)
            for top in {each.parts[0] for each in found.files or ()} - {"..", "__pycache__"}:
                if not (site / top).exists():
                    (site / top).symlink_to(Path(str(found.locate_file(top))))
    return folder


@pytest.fixture
def installed(environment_of_wheel: Path, tmp_path: Path) -> Run:
    """Run a program of the environment in which the wheel is."""

    def run(program: str, *words: str, stdin: str = "") -> str:
        programs = environment_of_wheel / "bin"
        env = {name: os.environ[name] for name in ("HOME", "OBSERVER_HOME")}
        env |= {"PATH": f"{programs}:/usr/bin:/bin", "LANG": "C.UTF-8"}
        argv = [programs / program, *words]
        done = ended(argv, input=stdin, cwd=tmp_path, env=env, timeout=300)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


def test_the_installed_wheel_remembers_and_finds(installed: Run, home: Home, until: Run) -> None:
    where = installed("python", "-c", "import observer; print(observer.__file__)")
    assert str(ROOT) not in where
    assert installed("observer-memory", "--version") == f"observer {__version__}\n"
    installed("observer", "install", "claude-code")
    installed("observer", "up")
    prompt = "why does the cart total differ by a cent?"
    reply = "Each line is rounded, and the total adds what is rounded."
    for event, said in (
        ("UserPromptSubmit", {"prompt": prompt}),
        ("Stop", {"last_assistant_message": reply}),
    ):
        subprocess.run(
            [home.hooks / "post", "claude-code", event],
            input=json.dumps({"session_id": "s", "cwd": "/", "hook_event_name": event} | said),
            check=True,
            text=True,
        )
    until(lambda: json.loads(installed("observer", "status", "--json"))["events"] == 2)
    assert prompt in installed("observer", "search", "cart total")

    def is_embedded() -> bool:
        status = json.loads(installed("observer", "status", "--json"))
        return bool(status["vectors"] == status["to_embed"] > 0)

    until(is_embedded)
    words = ("shopping basket sum is wrong", "--explain", "--json")
    found = json.loads(installed("observer", "search", *words))
    assert any(each["meaning_rank"] for each in found["why"]), "nothing is found by its meaning"
    installed("observer", "down")


def test_the_installed_wheel_measures_itself(installed: Run, home: Home) -> None:
    """Hooks and the package are then elsewhere than in a checkout."""
    fewer = (
        "from observer.cli import main; from observer.cli.doctor import speed;"
        " speed.QUICK = 0.01; main()"
    )
    words = ("hooks", "--quick", "--json")
    shown = json.loads(installed("python", "-c", fewer, "doctor", "speed", *words))
    found = {each["name"]: each["p50"] for each in shown["figures"]}
    assert found["hooks/post, daemon up"] > 0


def written(path: Path) -> str:
    subprocess.run([sys.executable, ROOT / "scripts" / "sbom.py", path], check=True)
    return path.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> str:
    return written(tmp_path_factory.mktemp("sbom") / "sbom.json")


@pytest.fixture(scope="module")
def bill(text: str) -> dict[str, Any]:
    return json.loads(text)


def test_it_is_valid_cyclonedx_of_the_same_bytes_each_time(text: str, tmp_path: Path) -> None:
    from cyclonedx.schema import SchemaVersion  # noqa: PLC0415 - as the next
    from cyclonedx.validation.json import JsonStrictValidator  # noqa: PLC0415 - a second, for every worker

    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(text) is None
    assert written(tmp_path / "again.json") == text


def test_it_lists_every_pinned_dependency_with_its_hashes(bill: dict[str, Any]) -> None:
    libraries = [each for each in bill["components"] if each["type"] == "library"]
    assert {
        each["bom-ref"]: {found["content"] for found in each["externalReferences"][0]["hashes"]}
        for each in libraries
    } == {f"pkg:pypi/{pin.name}@{pin.version}": set(pin.hashes) for pin in pins(RUNTIME)}


def test_it_lists_the_models_inside_the_package_and_most_licences(bill: dict[str, Any]) -> None:
    components = bill["components"]
    models = {each["name"] for each in components if each["type"] == "machine-learning-model"}
    assert models == {"deep", "instant"}
    bare = [each for each in components if not each.get("licenses") and not each.get("properties")]
    assert len(bare) < len(components) / 4


def test_everything_is_reached_from_observer(bill: dict[str, Any]) -> None:
    """What is for other platforms only is listed, but nothing here needs it."""
    assert bill["metadata"]["component"]["version"] == __version__
    edges = {each["ref"]: each.get("dependsOn", []) for each in bill["dependencies"]}
    reached, waiting = set(), ["observer"]
    while waiting:
        ref = waiting.pop()
        if ref not in reached:
            reached.add(ref)
            waiting += edges[ref]
    wanted = {f"pkg:pypi/{pin.name}@{pin.version}" for pin in pins(RUNTIME) if pin.applies()}
    assert wanted <= reached
