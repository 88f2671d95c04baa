"""The daemon: its parts, its start and its shutdown. A failed worker ends it."""

from __future__ import annotations

import asyncio
import faulthandler
import gc
import io
import logging
import os
import signal
import socket
import sys
import time
from collections.abc import Callable, Coroutine, Iterable, Sequence
from functools import partial
from logging.handlers import RotatingFileHandler
from typing import TYPE_CHECKING, Any

import msgspec

from observer import __version__
from observer.clients import generic
from observer.core import config
from observer.core.clock import now_ms
from observer.core.errors import ConfigInvalid, DaemonUnavailable, StoreUnavailable
from observer.core.events import Event, Forget
from observer.core.model import Receipt
from observer.core.paths import Home, make_private, open_plain
from observer.index.embed.lazy_model import LazyModel
from observer.index.embed.registry import chosen
from observer.ingest.decode import decoders
from observer.ingest.pipeline import Pipeline
from observer.ingest.prefetch import Prefetcher
from observer.local.spool import Spool
from observer.memory.api import Memory
from observer.memory.opening import index_for, team_of
from observer.memory.values import Extracted, no_model
from observer.notes.folders import NoteFiles
from observer.notes.note_reader import FlashbackSettings
from observer.projects import PlaceCache
from observer.redaction.redact import redact_text
from observer.serve import maintenance, requests
from observer.serve import servers as doors
from observer.serve.contexts import ContextWorker
from observer.serve.drain import DrainWorker, IndexWorker, Wakes, watch
from observer.serve.mcp.server import KeptOpenings, McpFront
from observer.serve.note_folders import NoteFolderWorker
from observer.serve.sharing import ShareWorker
from observer.serve.typed_commands import TypedCommands
from observer.serve.unreported import HeadWorker, ImportWorker, MemoryFileWorker, StalenessWorker
from observer.serve.watcher import WatchWorker
from observer.serve.worker import (
    Health,
    LazyStore,
    RequestStore,
    Services,
    Tasks,
    WriterThread,
    background,
    begin,
    end,
    open_store,
)
from observer.store.tombstones import Tombstones
from observer.tools import status as reports
from observer.upkeep.home_guard import ANEW, HomeGuard

if TYPE_CHECKING:
    from observer.llm.client import LlmClient
    from observer.serve.enrich import EnrichWorker


class DaemonLog(RotatingFileHandler):
    """A rotated file that receives standard output and error, too: faults in C code, warnings."""

    def _open(self) -> io.TextIOWrapper:
        stream = super()._open()
        if not sys.stderr.isatty():
            os.dup2(stream.fileno(), 1)
            os.dup2(stream.fileno(), 2)
        return stream


class SecretlessFormatter(logging.Formatter):
    """Redacts the secrets in a record, tracebacks included: an exception may quote its input."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as redacted text."""
        return redact_text(super().format(record))


def start_log(home: Home, *, level: str) -> None:
    """Send log records of at least `level` to `<home>/log/daemon.log`, or raise OSError."""
    path = make_private(home.logs) / "daemon.log"
    os.close(open_plain(path, os.O_WRONLY | os.O_CREAT))  # opening a FIFO would block the handler
    handler = DaemonLog(path, maxBytes=2 << 20, backupCount=3, encoding="utf-8")
    form = SecretlessFormatter("%(asctime)s.%(msecs)03dZ %(levelname)s %(name)s: %(message)s")
    form.datefmt = "%Y-%m-%dT%H:%M:%S"
    form.converter = time.gmtime
    handler.setFormatter(form)
    logging.basicConfig(level=level.upper(), handlers=[handler])
    for chatty in ("uvicorn", "watchfiles", "asyncio"):
        logging.getLogger(chatty).setLevel(logging.WARNING)
    faulthandler.enable()


log = logging.getLogger(__name__)

LAST_DRAIN_S = 15.0
"""How long a daemon that was asked to stop goes on storing; the rest stays in the spool."""
LAST_REQUESTS_S = 5.0
ANSWER_S = 0.3
"""How long a daemon that is asked to stop by a page goes on, so that the page is shown."""
SWITCH_S = 0.0005
"""The interpreter's switch interval: beside a drain a search took 210 to 260 ms with Python's 5 ms
(p95, 100,000 items), now 90 to 110."""
CHECK_HOME_S = 30.0
CHORES = 6  # threads for what workers do; requests have others
MOST_WAIT_S = 70.0  # longer than any answer takes; it only passes while the daemon stops


class LazyLlm:
    """The workers that use a language model: imported, last, if the settings name one."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._settings = services.settings
        self._enriching: EnrichWorker | None = None
        self._extract: Callable[[Sequence[str]], Coroutine[Any, Any, Extracted]] | None = None
        self._loop = asyncio.get_running_loop()

    def touch(self, projects: Iterable[int | None]) -> None:
        """Note that something was stored in these projects."""
        if self._enriching:
            self._enriching.touch(projects)

    def status(self) -> reports.LlmStatus | None:
        """Return the model's status, None if no model is configured; raise StoreUnavailable."""
        if not self._settings.llm_url:
            return None
        status = reports.llm_status(self._settings, self._services.store)
        return self._enriching.status(status) if self._enriching else status

    def extract(self, messages: Sequence[str]) -> Extracted:
        """Return the facts of a conversation worth keeping; blocks, not for the loop's thread.

        Raises ConfigInvalid without a model, DaemonUnavailable, and as `enrich.extracted`.
        """
        if not self._settings.llm_url:
            return no_model(messages)
        if self._extract is None:
            raise DaemonUnavailable(
                "the language model cannot be asked", hint="see: observer config llm"
            )
        asking = self._extract(messages)
        return asyncio.run_coroutine_threadsafe(asking, self._loop).result(MOST_WAIT_S)

    async def run(self) -> None:
        """Run the workers until cancelled; only sleep without a usable model."""
        if self._settings.llm_url:
            try:
                # A patient one, and one for somebody who waits.
                patient, hasty = await asyncio.to_thread(self._made)
            except ConfigInvalid as error:
                self._services.health.degrade("llm", str(error))
            else:
                from observer.serve import enrich  # noqa: PLC0415 - only where there is a model

                async with patient, hasty:
                    self._extract = partial(enrich.extracted, hasty, self._services)
                    self._enriching = enrich.EnrichWorker(self._services)
                    await self._enriching.run(patient)
        await asyncio.Event().wait()

    def _made(self) -> tuple[LlmClient, LlmClient]:
        from observer.llm.client import LlmClient  # noqa: PLC0415 - as above
        from observer.llm.endpoint import endpoint  # noqa: PLC0415 - as above
        from observer.serve.enrich import WAIT_S  # noqa: PLC0415 - 20 MB, for few

        found = endpoint(self._settings, self._services.home)
        return LlmClient(found), LlmClient(found, wait_s=WAIT_S)


def run(home: Home, pages: doors.Pages) -> int:
    """Run the daemon until it is to stop; return the exit code; raise ConfigInvalid, or OSError."""
    os.umask(0o077)
    gc.freeze()  # what was imported stays, and need not be looked at again
    sys.setswitchinterval(SWITCH_S)
    settings = config.load(home)
    start_log(home, level=settings.log_level)
    return asyncio.run(_live(home, settings, pages))


async def _live(home: Home, settings: config.Settings, pages: doors.Pages) -> int:
    asyncio.get_running_loop().set_default_executor(background(CHORES, "chore"))
    doors.make_run_folder(home)
    with (
        doors.listen(home.socket) as http_listener,
        doors.listen(home.mcp_socket) as mcp_listener,
        requests.link_interpreter(home),
    ):
        daemon = Daemon(home, settings, pages)
        log.info("observer %s is up, home %s", __version__, home.root)
        code = await daemon.live(http_listener, mcp_listener)
    log.info("observer is down")
    return code


class Daemon:
    """The parts of one daemon and the tasks that drive them; create it inside the event loop."""

    def __init__(self, home: Home, settings: config.Settings, pages: doors.Pages) -> None:
        self._home = home
        self._settings = settings
        self._started_ms = now_ms()
        self._loop = asyncio.get_running_loop()
        self._stopping = asyncio.Event()
        self._code = 0
        self._http: str | None = None
        self._health = Health()
        self._store = LazyStore(lambda: open_store(self._home, self._guard, self._store.progress))
        self._spool = Spool(home.spool)
        model = LazyModel(chosen(settings.model, home.models))
        self._index = index_for(home.index, model, is_owner=True)
        tombstones = Tombstones(home.tombstones)
        self._pipeline = self._storing(model, tombstones)
        self._guard = HomeGuard(home)
        self._writer = WriterThread(self._pipeline, self._guard, self._health)
        services = Services(
            home=home,
            settings=settings,
            store=self._store,
            spool=self._spool,
            pipeline=self._pipeline,
            writer=self._writer,
            health=self._health,
            tombstones=tombstones,
            record=self._recorded,
            on_change=self._stored,
        )
        self._notes = NoteFolderWorker(services, on_noted=self._noted, embedder=model)
        self._memory = self._remembering(model)
        self._employ(services, model, pages)
        self._services = services
        proxy = None
        try:
            proxy = doors.proxy_of(settings.web_proxy_host, home.web_secret)
        except (OSError, ValueError) as error:
            self._health.degrade("reverse proxy", f"it is not let in: {error}")
        self._web = doors.WebDoor(pages, self._memory, self._status, self._leave_soon, proxy)

    def _employ(self, services: Services, model: LazyModel, pages: doors.Pages) -> None:
        home, settings = self._home, self._settings
        reading = Memory(  # as a command opens it that reads by itself
            RequestStore(self._store),
            owner=config.owner(settings),
            now_ms=now_ms,
            index=self._index,
            encode=model.encode_patiently,
            files=NoteFiles(self._store, home),
            team=team_of(model),
        )
        self._reminded = requests.RemindedSessions(home.reminders)
        self._answer = partial(requests.answer, reading, home, settings)
        self._contexts = ContextWorker(services, self._memory)
        self._index_worker = IndexWorker(services, self._index, model)
        self._drain = DrainWorker(services)
        self._integrity = maintenance.IntegrityWorker(
            services, on_checked=lambda: self._contexts.touch([None])
        )
        self._retention = maintenance.RetentionWorker(services)
        self._watch = WatchWorker(services)
        self._staleness = StalenessWorker(services, on_revised=self._contexts.touch)
        self._imports = ImportWorker(services)
        self._heads = HeadWorker(services)
        self._llm = LazyLlm(services)
        self._shares = ShareWorker(services)
        self._openings = KeptOpenings(services)
        self._mcp = McpFront(
            self._memory,
            rules_chars=settings.rules_chars,
            view_of=pages.view,
            greeted=self._openings.greeted,
        )

    def _storing(self, model: LazyModel, tombstones: Tombstones) -> Pipeline:
        return Pipeline(
            self._store,
            self._spool,
            settings=self._settings,
            places=PlaceCache(),
            now_ms=now_ms,
            ahead=Prefetcher(self._home.spool, self._settings),
            embedder=model,
            tombstones=tombstones,
            probes=self._home.probes,
            index=self._index,
            give_way=lambda: self._mcp.give_way(self._writer.is_awaited),
        )

    def _remembering(self, model: LazyModel) -> Memory:
        return Memory(
            RequestStore(self._store),
            owner=config.owner(self._settings),
            now_ms=now_ms,
            index=self._index,
            encode=model.encode,
            record=self._recorded,
            flashback_settings=FlashbackSettings(
                days=self._settings.flashback_days,
                distance=self._settings.flashback_distance,
                limit=self._settings.flashback_limit,
            ),
            extract=lambda said: self._llm.extract(said),  # noqa: PLW0108 - made later
            files=NoteFiles(
                self._store,
                self._home,
                keeper=self._notes,
                min_similarity=self._settings.semantic_min_similarity,
            ),
            grace_ms=self._settings.forget_grace_hours * 3_600_000,
            team=team_of(model),
            mem0_scope=self._settings.mem0_scope,
            chose=lambda: self._noted([None]),
        )

    async def live(self, http_listener: socket.socket, mcp_listener: socket.socket) -> int:
        """Serve until asked to stop or until a worker fails; return the exit code."""
        for number in (signal.SIGTERM, signal.SIGINT):
            self._loop.add_signal_handler(number, self._obey)
        self._spool.prepare(reader=decoders())
        servers = self._servers(http_listener)
        chores = self._begin_chores()
        http = begin(**{server.name: server.serve() for server in servers}, web=self._web.run())
        mcp = begin(mcp=self._mcp.serve(mcp_listener))
        stop = asyncio.create_task(self._stopping.wait(), name="stop")
        tasks = {stop, *chores, *mcp, *http}
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        failed = done - {stop}
        for task in failed:
            log.error("%s failed, leaving", task.get_name(), exc_info=task.exception())
        await end(chores)
        if not failed:
            await self._drain.finish(wait_s=LAST_DRAIN_S)
            await self._watch.finish()
            await self._contexts.freshen()
        self._mcp.leave()
        self._web.leave()
        for server in servers:
            server.leave()
        await asyncio.wait(http, timeout=LAST_REQUESTS_S)
        await end([*http, *mcp])
        await asyncio.to_thread(self._writer.close)
        await asyncio.to_thread(self._index.close)
        self._store.close()
        return 1 if failed else self._code

    def _begin_chores(self) -> Tasks:
        spool, drain = self._home.spool, self._drain
        wakes: Wakes = {
            spool / "new": lambda _: drain.wake(),
            spool / "shell": lambda _: drain.wake(),
            spool: self._contexts.paused,
            self._home.root: self._put_in_home,
        }
        return begin(
            # The watch before the first drain, so that nothing arrives unseen between them.
            watch=watch(wakes, self._health, growing=[spool / "shell"]),
            drain=self._drain.run(),
            chores=self._drain.run_chores(),
            maintenance=maintenance.MaintenanceWorker(self._services).run(),
            integrity=self._integrity.run(),
            backups=maintenance.BackupWorker(self._services).run(),
            retention=self._retention.run(),
            imports=self._imports.run(),
            memory_files=MemoryFileWorker(self._services).run(),
            contexts=self._contexts.run(),
            openings=self._openings.run(self._mcp),
            index=self._index_worker.run(),
            embedding=self._index_worker.run_embedding(),
            resting=self._index_worker.run_resting(),
            staleness=self._staleness.run(),
            heads=self._heads.run(),
            llm=self._llm.run(),
            watching=self._watch.run(),
            notes=self._notes.run(),
            shares=self._shares.run(),
            home=self._check_home(),
        )

    def _servers(self, http_listener: socket.socket) -> list[doors.HttpServer]:
        servers = [doors.HttpServer(self._app, [http_listener], name="http")]
        if port := self._settings.http_port:
            try:
                token = doors.ensure_secret(self._home.token)
                opened = doors.listen_tcp(port)
            except OSError as error:
                what = error.filename or f"port {port}"
                self._health.degrade("http", f"{what} cannot be used: {error.strerror}")
            else:
                guarded = partial(self._app, opened, token)
                servers.append(doors.HttpServer(guarded, opened.listeners, name="http on TCP"))
                self._http = f"http://127.0.0.1:{port}"
        return servers

    def _app(self, port: doors.LoopbackPort | None = None, token: str = "") -> Any:  # noqa: ANN401 - as in `HttpServer`
        """Return what the Unix socket serves, or a port, where requests show a token."""
        from observer.serve.http import Guard, Handlers, McpHttp, app  # noqa: PLC0415 - as in `HttpServer`

        handlers = Handlers(
            memory=self._memory,
            status=self._status,
            post=lambda body: requests.post_events(body, self._recorded),
            take_past=lambda body: requests.import_events(body, self._recorded),
            end_import=self._end_import,
            schema=generic.schema,
            share=self._shares.answer,
            ask=self._answer,
            recall=lambda envelope: (
                requests.remind(self._memory, self._reminded, envelope, at_ms=now_ms())
                if self._settings.recall_hooks
                else b""
            ),
            commands=TypedCommands(RequestStore(self._store), self._memory, self._loop).answer,
            link=self._web.link,
            logout=self._web.logout,
            stop=self._stopping.set,
        )
        guard = Guard(token=token, port=port.number, admit=port.admit) if port else None
        return app(handlers, McpHttp(self._mcp), guard=guard)

    def _recorded(self, events: Sequence[Event], project_id: int | None) -> Sequence[Receipt]:
        """Store the events of a request, in its thread; return after the commit."""
        receipts = self._writer.call(self._pipeline.ingest, events, project_id)
        self._noted({receipt.project_id for receipt in receipts})
        self._loop.call_soon_threadsafe(self._contexts.touch_noted, events, project_id)
        if any(isinstance(event.body, Forget) for event in events):
            self._loop.call_soon_threadsafe(self._retention.wake)
        return receipts

    def _end_import(self) -> None:
        """Have what was imported linked soon."""
        self._pipeline.end_import()
        self._retention.wake()

    def _stored(self, projects: Iterable[int | None]) -> None:
        touched = list(projects)
        workers = (self._contexts, self._index_worker, self._staleness, self._openings)
        others = (self._heads, self._llm, self._watch, self._shares, self._retention)
        for each in (*workers, *others):
            each.touch(touched)

    def _noted(self, projects: Iterable[int | None]) -> None:
        self._loop.call_soon_threadsafe(self._stored, list(projects))

    def _status(self) -> reports.Status:
        status = reports.Status(
            pid=os.getpid(),
            uptime_ms=now_ms() - self._started_ms,
            degraded=self._health.text(),
            http=self._http,
            model=self._settings.model,
            vectors=self._index.embedded(),
            to_embed=self._index.to_embed(),
            watched=self._watch.shown(),
            following=self._settings.follow,
            importing=reports.importing(self._home, self._imports.done),
            redacting=self._retention.redacting,
            home=str(self._home.root),
        )
        try:
            status = reports.with_store(
                status, self._home, RequestStore(self._store), self._pipeline.restricted()
            )
            folders = self._notes.shown()
            status = msgspec.structs.replace(status, llm=self._llm.status(), note_folders=folders)
        except StoreUnavailable as error:
            status = reports.without_store(status, self._home, error)
        return reports.with_spool(status, self._home)

    def _obey(self) -> None:
        if self._stopping.is_set():  # the second signal: nothing is lost, the spool keeps it
            os._exit(1)
        self._stopping.set()

    def _leave_soon(self) -> None:
        """Begin anew once the request that asks for it is answered; called in any thread."""
        self._code = ANEW
        self._loop.call_soon_threadsafe(self._loop.call_later, ANSWER_S, self._stopping.set)

    def _put_in_home(self, name: str) -> None:
        if name in {self._home.note_folders.name, ""}:
            self._notes.look()
        if name in {self._home.importing.name, ""}:
            self._imports.wake()

    async def _check_home(self) -> None:
        while True:  # until HomeLost: a successor must be the only daemon
            await asyncio.sleep(CHECK_HOME_S)
            self._guard.check()
