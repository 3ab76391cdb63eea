"""`DurableStore`: one thread writes, many read; concurrent callers share a commit (group commit).

While a commit is written to disk, more callers queue up: the next commit includes all of them. A caller gets its result
after the commit with its events, and the models in memory are replaced after it too, so no answer depends on data that
a power failure could undo.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

from bayesbox.errors import BayesboxError, StoreBusy, StoreFailed, UnknownRecord
from bayesbox.serve import audit
from bayesbox.serve.live import require_counting
from bayesbox.serve.store import tokens
from bayesbox.serve.store.base import RETRAIN_EVERY, Event, LearnResult, ModelState, Store, TokenRecord
from bayesbox.serve.store.bases import attach, rebase, sha256_of_base
from bayesbox.serve.store.database import Database, Transaction
from bayesbox.serve.store.events import StoredEvent
from bayesbox.serve.store.forgetting import certificates, forget
from bayesbox.serve.store.formats import settle
from bayesbox.serve.store.held import Held, caught_up, model_at, require_head
from bayesbox.serve.store.learning import LearnJob, learn_jobs
from bayesbox.serve.store.retraining import awaits_retraining, can_retrain, events_left, retrained, take_over

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    from bayesbox.classifier.base import AnyClassifier

MOST_IN_COMMIT = 5_000  # events
MOST_WAITING = 200_000  # events; with more, callers must retry
POLL = 0.25  # seconds between two checks for changes by other processes
PATIENCE = 60.0  # seconds that `close` waits for work in progress

T = TypeVar("T")


@dataclass
class _Job:
    """A single change: its function in the transaction, and what follows the commit."""

    run: Callable[[Transaction], Any]
    then: Callable[[Any], Any]
    future: Future[Any] = field(default_factory=Future)
    since: float = field(default_factory=time.monotonic)


class DurableStore(Store):
    """A store over a database.

    `poll` is the interval of checks for changes by others, in seconds; `retrain_every` the number of events after which
    derived parts are retrained, 0 for never.
    """

    def __init__(self, database: Database, *, poll: float = POLL, retrain_every: int = RETRAIN_EVERY) -> None:
        self.database, self._every = database, retrain_every
        self._rows: dict[str, str] = {}  # the files of the training rows of bases
        self._due: set[str] = set()  # models to retrain
        self._train = threading.Event()
        self._held: dict[str, Held] = {}
        self._files: dict[str, str] = {}  # the SHA-256 of the file that each model was attached with
        self._states: dict[str, ModelState] = {}
        self._swapping = threading.Lock()
        self._waiting: deque[_Job | LearnJob] = deque()
        self._events_waiting = 0
        self._awake = threading.Condition()
        self._busy_since: float | None = None
        self._closed = False
        self._unscrubbed = False
        try:
            with database.writing() as transaction:
                self._key = settle(transaction)
        except BaseException:
            database.close()
            raise
        self._stop = threading.Event()
        self._writer = threading.Thread(target=self._write, name="store-writer", daemon=True)
        self._watcher = threading.Thread(target=self._watch, args=(poll,), name="store-watcher", daemon=True)
        self._trainer = threading.Thread(target=self._retrain, name="store-trainer", daemon=True)
        for thread in (self._writer, self._watcher, self._trainer):
            thread.start()

    # -- models ----------------------------------------------------------------------------------------------------

    def attach(self, name: str, model: AnyClassifier, data: bytes, *, rows: str | None = None) -> ModelState:
        self._files[name] = sha256_of_base(data)
        if rows is not None:
            self._rows[name] = rows

        def run(transaction: Transaction) -> tuple[Held, bool]:
            held = attach(transaction, name, model, data)
            return held, awaits_retraining(transaction, held)

        def then(result: tuple[Held, bool]) -> ModelState:
            state = self._swap(result[0])
            self._consider(result[0], forgot=result[1])
            return state

        state: ModelState = self._run(run, then)
        return state

    def reload(self, name: str, model: AnyClassifier, data: bytes, *, by: str | None = None) -> ModelState:
        def run(transaction: Transaction) -> Held:
            held = self._newest(transaction, name)
            return rebase(transaction, held, model, data, action="reload", details={"by": [by]} if by else {})

        def then(held: Held) -> ModelState:
            self._files[name] = sha256_of_base(data)
            state = self._swap(held)
            self._unscrubbed = True
            self._scrub()
            return state

        state: ModelState = self._run(run, then)
        return state

    def names(self) -> list[str]:
        with self._reading() as transaction:
            return [row[0] for row in transaction.query("SELECT name FROM models ORDER BY name")]

    def current(self, name: str) -> ModelState:
        try:
            return self._states[name]
        except KeyError:
            raise UnknownRecord(f"the model `{name}` is not attached") from None

    def at(self, name: str, sequence: int) -> ModelState:
        with self._reading() as transaction:
            held = caught_up(transaction, self._of(name))
            head = held.head
            if not 0 <= sequence <= head.sequence:
                raise UnknownRecord(f"an event number must be 0 to {head.sequence:,}, got {sequence:,}", where=name)
            if sequence == head.sequence:
                return held.state()
            classifier = model_at(transaction, held, sequence)
            statement = "SELECT COUNT(*) FROM events WHERE model = ? AND sequence <= ?"
            rows = head.base_rows + transaction.query(statement, (head.number, sequence))[0][0]
        as_of = replace(head, sequence=sequence, rows=rows, digest=classifier.book.digest())
        return replace(held, head=as_of, classifier=classifier).state()

    # -- learning and forgetting -----------------------------------------------------------------------------------

    def submit(self, name: str, events: Sequence[Event], *, by: str | None = None) -> Future[LearnResult]:
        self._of(name)
        job = LearnJob(name, [StoredEvent.of(event) for event in events], by)
        self._enqueue(job, len(job.events))
        return job.future

    def learn(self, name: str, events: Sequence[Event], *, by: str | None = None) -> LearnResult:
        return self.submit(name, events, by=by).result()

    def forget(
        self,
        name: str,
        ids: Sequence[str] = (),
        *,
        key: tuple[str, object] | None = None,
        signer: Ed25519PrivateKey | None = None,
        by: str | None = None,
    ) -> dict[str, Any]:
        def run(transaction: Transaction) -> tuple[Held, dict[str, Any]]:
            held, erased = self._newest(transaction, name), self.database.not_erased
            return forget(transaction, held, ids, key, hmac_key=self._key, signer=signer, by=by, not_erased=erased)

        def then(result: tuple[Held, dict[str, Any]]) -> dict[str, Any]:
            self._swap(result[0])
            self._unscrubbed = True
            self._scrub()
            self._consider(result[0], forgot=True)
            return result[1]

        document: dict[str, Any] = self._run(run, then)
        return document

    def certificate(self, name: str, number: int) -> dict[str, Any]:
        with self._reading() as transaction:
            return certificates(transaction, require_head(transaction, name), number)[0]

    def certificates(self, name: str) -> list[dict[str, Any]]:
        with self._reading() as transaction:
            return certificates(transaction, require_head(transaction, name))

    # -- the audit log -----------------------------------------------------------------------------------------------

    def audit(self, name: str | None, after: int = 0, limit: int = 1000) -> list[dict[str, Any]]:
        with self._reading() as transaction:
            return audit.records(transaction, name, after=after, limit=limit)

    def record(self, action: str, name: str | None, details: Mapping[str, Any]) -> None:
        self._run(lambda transaction: audit.append(transaction, action, name, details))

    # -- tokens ------------------------------------------------------------------------------------------------------

    def add_token(self, sha256: str, scopes: Sequence[str], expires: float | None, label: str) -> str:
        id: str = self._run(lambda transaction: tokens.add(transaction, sha256, scopes, expires, label))
        return id

    def tokens(self) -> list[TokenRecord]:
        with self._reading() as transaction:
            return tokens.records(transaction)

    def revoke(self, id: str) -> None:
        self._run(lambda transaction: tokens.revoke(transaction, id))

    def token(self, sha256: str) -> TokenRecord | None:
        with self._reading() as transaction:
            found = tokens.records(transaction, sha256)
        return found[0] if found else None

    # -- running -----------------------------------------------------------------------------------------------------

    def lag(self) -> float:
        with self._awake:
            since = [job.since for job in list(self._waiting)[:1]]
            since += [self._busy_since] if self._busy_since is not None else []
        return time.monotonic() - min(since) if since else 0.0

    def close(self) -> None:
        with self._awake:
            if self._closed:
                return
            self._closed = True
            self._awake.notify_all()
        self._stop.set()
        self._train.set()
        for thread, patience in ((self._writer, PATIENCE), (self._watcher, PATIENCE), (self._trainer, 1.0)):
            thread.join(patience)  # a training in progress is abandoned, and restarted at the next start
        self.database.close()

    # -- the writer thread -------------------------------------------------------------------------------------------

    def _enqueue(self, job: _Job | LearnJob, events: int = 0) -> None:
        with self._awake:
            if self._closed:
                raise StoreFailed("the store is closed")
            if events and self._events_waiting + events > MOST_WAITING:
                raise StoreBusy("too many events wait for their commit", remedy="Nothing was changed; try again later")
            self._events_waiting += events
            self._waiting.append(job)
            self._awake.notify()

    def _run(self, run: Callable[[Transaction], T], then: Callable[[T], Any] = lambda result: result) -> Any:
        job = _Job(run, then)
        self._enqueue(job)
        return job.future.result()

    def _write(self) -> None:
        while True:
            jobs = self._next()
            if not jobs:
                return
            try:
                if isinstance(jobs[0], _Job):
                    self._commit(jobs[0])
                else:
                    self._commit_learning([job for job in jobs if isinstance(job, LearnJob)])
            except BaseException as error:  # on any error, no caller is left waiting, and the thread continues
                for job in jobs:
                    if not job.future.done():
                        job.future.set_exception(error)
            finally:
                self._busy_since = None

    def _next(self) -> list[_Job | LearnJob]:
        """The jobs of the next commit: one change, or the learning of all waiting callers; empty if all is done."""
        with self._awake:
            while not self._waiting and not self._closed:
                self._awake.wait()
            if not self._waiting:
                return []
            first = self._waiting.popleft()
            jobs, events = [first], 0
            if isinstance(first, LearnJob):
                events = len(first.events)
                while self._waiting and isinstance(self._waiting[0], LearnJob):
                    events += len(self._waiting[0].events)
                    if events > MOST_IN_COMMIT:
                        events -= len(self._waiting[0].events)
                        break
                    jobs.append(self._waiting.popleft())
                self._events_waiting -= events
            self._busy_since = min(job.since for job in jobs)
            return jobs

    def _commit(self, job: _Job) -> None:
        with self.database.writing() as transaction:
            result = job.run(transaction)
        job.future.set_result(job.then(result))

    def _commit_learning(self, jobs: Sequence[LearnJob]) -> None:
        by_name: dict[str, list[LearnJob]] = {}
        for job in jobs:
            by_name.setdefault(job.name, []).append(job)
        answers: list[tuple[LearnJob, LearnResult | BayesboxError]] = []
        changed: list[Held] = []
        with self.database.writing() as transaction:
            for name, own in by_name.items():
                held = self._newest(transaction, name)
                refusal = self._refusal(held)
                if refusal is not None:
                    answers += [(job, refusal) for job in own]
                    continue
                outcome = learn_jobs(transaction, held, own, self._key)
                changed.append(outcome.held)
                answers += zip(own, outcome.answers, strict=True)
        for held in changed:
            self._swap(held)
            self._consider(held)
        for job, answer in answers:
            if isinstance(answer, BayesboxError):
                job.future.set_exception(answer)
            else:
                job.future.set_result(answer)

    def _newest(self, transaction: Transaction, name: str) -> Held:
        """The current model in the database, locked until the transaction ends."""
        transaction.lock_model(name)
        return caught_up(transaction, self._of(name))

    # -- retraining --------------------------------------------------------------------------------------------------

    def retrain(self, name: str) -> bool:
        with self._reading() as transaction:
            held, rows = caught_up(transaction, self._of(name)), self._rows.get(name)
            events = events_left(transaction, held) if can_retrain(held, rows) else None
        new = None if events is None else retrained(held, events, rows)
        if new is None:
            return False
        done: Held | None = self._run(
            lambda transaction: take_over(transaction, self._newest(transaction, name), new),
            lambda found: found and (self._swap(found), found)[1],
        )
        return done is not None

    def _refusal(self, held: Held) -> BayesboxError | None:
        """Why a model cannot learn events; None if it can."""
        try:
            require_counting(held.classifier)
        except BayesboxError as error:
            return error
        return None

    def _consider(self, held: Held, *, forgot: bool = False) -> None:
        """Schedule a retraining if it is due."""
        head, every = held.head, self._every
        due = every > 0 and (forgot or head.sequence - head.retrained >= every)
        if due and can_retrain(held, self._rows.get(head.name)):
            self._due.add(head.name)
            self._train.set()

    def _retrain(self) -> None:
        """Retrain models one after another, while the others keep working."""
        while self._train.wait() and not self._stop.is_set():
            self._train.clear()
            for name in list(self._due):
                self._due.discard(name)
                with contextlib.suppress(BayesboxError):  # the state says that it is stale, and it is tried again
                    self.retrain(name)

    # -- models in memory --------------------------------------------------------------------------------------------

    def _of(self, name: str) -> Held:
        try:
            return self._held[name]
        except KeyError:
            raise UnknownRecord(f"the model `{name}` is not attached") from None

    def _swap(self, held: Held) -> ModelState:
        """Predict with this model from now on, unless there is a newer one."""
        name = held.head.name
        with self._swapping:
            before = self._held.get(name)
            if before is None or before.head.changes <= held.head.changes:
                self._held[name] = held
                self._states[name] = held.state(base_changed=self._files.get(name) != held.head.file_sha256)
            return self._states[name]

    def _watch(self, poll: float) -> None:
        """Adopt the changes of other processes, and erase what could not be erased immediately."""
        while not self._stop.wait(poll):
            with contextlib.suppress(BayesboxError):  # retried at the next poll
                self._look()
                if self._unscrubbed:
                    self._run(lambda _: None, lambda _: self._scrub())

    def _look(self) -> None:
        with self._reading() as transaction:
            changes: dict[str, int] = dict(transaction.query("SELECT name, changes FROM models"))
            behind = [held for name, held in list(self._held.items()) if changes.get(name, 0) > held.head.changes]
            newer = [caught_up(transaction, held) for held in behind]
        for held in newer:
            self._swap(held)

    def _scrub(self) -> None:
        """Erase the traces of forgotten events; if a reader blocks it, the watcher tries again."""
        with contextlib.suppress(StoreFailed):
            self._unscrubbed = not self.database.scrub()

    @contextlib.contextmanager
    def _reading(self) -> Iterator[Transaction]:
        if self._closed:
            raise StoreFailed("the store is closed")
        with self.database.reading() as transaction:
            yield transaction
