"""Several worker processes, besides the writer.

The writer opens the store, listens on its own Unix socket, and starts the workers, which share the socket that clients
connect to. A worker answers queries itself, from the tallies of the store, and forwards learning, forgetting and
metrics to the writer. Every second it sends its own counts to the writer: they are sums.
"""

from __future__ import annotations

import multiprocessing
import multiprocessing.connection
import os
import shutil
import signal
import socket
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bayesbox.errors import SourceUnavailable
from bayesbox.serve.http.server import (
    DRAIN,
    ServeOptions,
    make_server,
    make_service,
    run_loop,
    serve,
    without_data_warnings,
)
from bayesbox.serve.models.classifier import ServedClassifier
from bayesbox.serve.store.base import Store, open_store

AGAIN = 1.0  # seconds before a dead worker is restarted


def run_with_workers(
    options: ServeOptions, store: Store, listening: socket.socket, started: Callable[[list[dict[str, Any]]], None]
) -> None:
    """Serve with `options.workers` processes; this one is the writer."""
    folder = tempfile.mkdtemp(prefix="bayes-serve-")  # mode 0700: only this user may connect
    path = str(Path(folder) / "writer")
    try:
        with without_data_warnings(), socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as own:
            own.bind(path)
            own.listen(1024)
            service = make_service(options, store)
            crew = Crew(options, listening, path, service)
            crew.start()
            started([service.folder.models[name].summary() for name in sorted(service.folder.models)])
            service.log.event("started", models=sorted(service.folder.models), workers=options.workers)
            server = make_server(service, options, tls=False)
            try:
                main = serve(server, service, [own], options.seconds, on_stop=crew.stop, on_reload=crew.reload_all)
                run_loop(main)
            finally:
                crew.stop()
            service.close()
            service.log.event("stopped")
            service.log.flush()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


class Crew:
    """The workers of a writer: started, monitored, restarted if one dies, and stopped."""

    def __init__(self, options: ServeOptions, listening: socket.socket, path: str, service: Any) -> None:
        self.options, self.listening, self.path, self.service = options, listening, path, service
        self.context = multiprocessing.get_context("spawn")
        self.stopping = False
        self._lock = threading.Lock()
        self._started = 0
        self._workers: dict[int, tuple[Any, multiprocessing.connection.Connection]] = {}
        self._done: list[tuple[Any, ...]] = []  # the counts of dead workers
        self._latest: dict[int, tuple[Any, ...]] = {}
        self._reloads: dict[str, int] = {}
        service.reloaded = self._note_reload

    def start(self) -> None:
        """Start the workers, wait until they are ready, and listen to them."""
        for _ in range(self.options.workers):
            self._start_one()
        for _, pipe in list(self._workers.values()):
            try:
                if not pipe.poll(60):
                    raise EOFError
                pipe.recv()
            except EOFError:
                self.stop()
                raise SourceUnavailable(
                    "a worker did not start", remedy="See its messages; --workers 0 serves in one process"
                ) from None
        threading.Thread(target=self._listen, daemon=True, name="bayes-serve-crew").start()

    def _start_one(self) -> None:
        ours, theirs = self.context.Pipe()
        number = self._started
        self._started += 1
        process = self.context.Process(
            target=work, args=(self.options, self.listening, self.path, theirs), daemon=True, name=f"worker-{number}"
        )
        process.start()
        theirs.close()
        self._workers[number] = process, ours

    def _listen(self) -> None:
        while not self.stopping:
            with self._lock:
                pipes = {pipe: number for number, (_, pipe) in self._workers.items()}
            ready = multiprocessing.connection.wait(list(pipes), timeout=0.5)
            for pipe, number in [each for each in pipes.items() if each[0] in ready]:
                try:
                    self._take(number, pipe.recv())
                except (EOFError, OSError):
                    self._lost(number)

    def _take(self, number: int, message: Any) -> None:
        if message is None:  # a restarted worker is ready
            return
        counts, drifts = message
        self._latest[number] = counts
        self._publish()
        for name, (counter, seen) in drifts.items():
            model = self.service.folder.models.get(name)
            if isinstance(model, ServedClassifier):
                model.tally.add(counter, seen)
        _, pipe = self._workers[number]
        pipe.send(dict(self._reloads))

    def _publish(self) -> None:
        everything = [*self._done, *self._latest.values()]
        self.service.handlers.other_metrics = dict(enumerate(everything))

    def _lost(self, number: int) -> None:
        with self._lock:
            process, pipe = self._workers.pop(number)
        pipe.close()
        if number in self._latest:
            self._done.append(self._latest.pop(number))
        process.join(1)
        if not self.stopping:
            self.service.log.event("worker-lost", exit_code=process.exitcode)
            time.sleep(AGAIN)
            with self._lock:
                if not self.stopping:
                    self._start_one()

    def _note_reload(self, name: str) -> None:
        self._reloads[name] = self._reloads.get(name, 0) + 1

    def reload_all(self) -> None:
        """Reload all files, here and in the workers."""
        self.service.reload_all()

    def stop(self) -> None:
        """Let the workers finish their requests and stop."""
        with self._lock:
            self.stopping = True
            workers = list(self._workers.values())
        for process, _ in workers:
            if process.is_alive():
                process.terminate()
        until = time.monotonic() + DRAIN + 5
        for process, _ in workers:
            process.join(max(until - time.monotonic(), 0.1))
            if process.is_alive():
                process.kill()


def work(
    options: ServeOptions, listening: socket.socket, path: str, pipe: multiprocessing.connection.Connection
) -> None:
    """The main function of a worker process."""
    from bayesbox.serve.http.forward import ToWriter

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all processes; the writer decides when to stop
    parent = os.getppid()
    with without_data_warnings(), open_store(options.store_url(), retrain_every=0) as store:  # the writer retrains
        service = make_service(options, store, ToWriter(path))
        server = make_server(service, options, tls=True)
        report = Reports(service, pipe)
        tick = service.tick

        def every_second() -> None:
            tick()
            if not report.send() or os.getppid() != parent:
                os.kill(os.getpid(), signal.SIGTERM)  # the writer is gone

        service.tick = every_second
        pipe.send(None)
        run_loop(serve(server, service, [listening]))
        service.close()
        report.send()


class Reports:
    """The connection of a worker to the writer: it sends its counts every second, and receives reloads."""

    def __init__(self, service: Any, pipe: multiprocessing.connection.Connection) -> None:
        self.service, self.pipe = service, pipe
        self._reloads: dict[str, int] = {}

    def send(self) -> bool:
        """Send the counts; returns whether the writer is still running."""
        drifts = {
            name: model.tally.taken()
            for name, model in self.service.folder.models.items()
            if isinstance(model, ServedClassifier)
        }
        try:
            self.pipe.send((self.service.metrics.state(), drifts))
            while self.pipe.poll():
                self._reload(self.pipe.recv())
        except (EOFError, OSError):
            return False
        return True

    def _reload(self, reloads: dict[str, int]) -> None:
        for name, count in reloads.items():
            if self._reloads.get(name, 0) != count:
                self._reloads[name] = count
                model = self.service.folder.models.get(name)
                if not isinstance(model, ServedClassifier):  # classifiers are updated from the store
                    self.service.reload(name)
