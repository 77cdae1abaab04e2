"""Workers: in this process, on this machine's cores, or on a cluster. The code that distributes the tasks sees no
difference.

    with pool(jobs=8) as run: for key, done in run(work, ((key, task), …)): …
    with pool(scheduler="tcp://host:8786") as run: …        a machine joins with: python3 -m autograder worker tcp://…

Dask sends a task again when its worker dies; a task only returns a value, so that is harmless.
"""

import multiprocessing
import multiprocessing.util
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from autograder import temporary

WAITING = 3  # tasks on their way per worker: enough to keep it busy, few enough that a class of 5,000 is not in memory
TRIES = 3  # how often a task is begun again when the worker that had it is lost, or its result cannot be fetched
FETCHING = 60  # seconds to wait for the result of a task that is done: its worker may have died
SILENCE = 3600  # seconds in which at least one task must come back: a notebook's own limits end it long before


class PoolLost(Exception):  # noqa: N818 - said to the instructor
    """The scheduler cannot be reached, or no worker is left."""


NOBODY = 120  # seconds without any worker after which the pool counts as lost; one that died is back in a few
REACHING = 10  # seconds to wait for a scheduler to answer
JOINING = 60  # seconds to wait for the first machine to join a scheduler

Run = Callable[
    [Callable[[Any], Any], Iterable[tuple[Any, Any]], Callable[[Any, Exception], Any]], Iterator[tuple[Any, Any]]
]
"""(work, (key, task) …, lost) -> (key, work(task)) …, as they come; (key, lost(key, why)) if every worker that had the
task was lost with it."""


@contextmanager
def pool(jobs: int = 1, scheduler: str | None = None) -> Iterator[Run]:
    """Something that runs tasks. One job and no scheduler: in this process, in order. Raises PoolLost."""
    if scheduler is None and jobs <= 1:
        yield lambda work, tasks, lost: ((key, work(task)) for key, task in tasks)
        return
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        raise PoolLost(
            "several jobs need Dask, which is not installed:"
            " .venv/bin/python -m pip install dask distributed, or --jobs 1"
        ) from None
    if scheduler is not None:
        try:
            client = Client(scheduler, timeout=REACHING)
        except (OSError, ValueError) as error:
            raise PoolLost(f"the scheduler {scheduler} cannot be reached: {error}") from None
        with client:
            try:
                client.wait_for_workers(1, timeout=JOINING)
            except TimeoutError:
                join = f"python3 -m autograder worker {scheduler}"
                raise PoolLost(f"no machine has joined {scheduler} within {JOINING} s. To join: {join}") from None
            yield _handing_out(client)
        return
    with _deaf_to_ctrl_c():
        cluster = LocalCluster(
            n_workers=jobs,
            threads_per_worker=1,
            processes=True,
            dashboard_address=None,
            silence_logs=50,
            memory_limit=0,
        )
    with cluster, Client(cluster) as client:
        yield _handing_out(client)


def end_at_once() -> None:
    """Kill this machine's workers. The tasks of a killed worker are simply started again."""
    children = multiprocessing.active_children()
    for child in children:
        child.kill()
    for child in children:
        child.join(1)
    temporary.sweep()
    multiprocessing.util._run_finalizers()  # type: ignore[attr-defined]  # or its tracker complains of what is left


@contextmanager
def _deaf_to_ctrl_c() -> Iterator[None]:
    """Processes that are started here ignore Ctrl-C; this one receives it, and ends them."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _next_of(waiting: Any, client: Any) -> Any:
    """The next future that is done. Raises PoolLost if there has been no worker for NOBODY seconds, or no result for
    SILENCE seconds."""
    began = seen = time.monotonic()
    while not waiting.has_ready():
        if client.scheduler_info()["workers"]:
            seen = time.monotonic()
        elif time.monotonic() - seen > NOBODY:
            raise PoolLost(f"no worker has been there for {NOBODY} seconds")
        if time.monotonic() - began > SILENCE:
            raise PoolLost(f"no submission has come back for {SILENCE} seconds")
        time.sleep(0.01)
    return next(waiting)


@dataclass
class _Sent:
    key: Any
    task: Any
    again: int = 0  # how often it was sent again


def _handing_out(client: Any) -> Run:
    from distributed import CancelledError, KilledWorker, as_completed

    def run(
        work: Callable[[Any], Any], tasks: Iterable[tuple[Any, Any]], lost: Callable[[Any, Exception], Any]
    ) -> Iterator[tuple[Any, Any]]:
        queue = iter(tasks)
        sent: dict[Any, _Sent] = {}
        waiting = as_completed()
        room = _Room(client)
        more = True

        def send(one: _Sent) -> None:
            future = client.submit(work, one.task, pure=False, retries=TRIES)
            sent[future] = one
            waiting.add(future)

        try:
            while more or sent:
                while more and len(sent) < room.now():
                    key, task = next(queue, (None, None))
                    more = task is not None
                    if more:
                        send(_Sent(key, task))
                if not sent:
                    continue
                future = _next_of(waiting, client)
                one = sent.pop(future)
                try:
                    done = future.result(timeout=FETCHING)
                except KilledWorker as error:
                    done = lost(one.key, error)
                except CancelledError as error:
                    raise PoolLost("the scheduler has gone away") from error
                except TimeoutError as error:  # its worker died with the result, or does not hand it over
                    if future.status == "pending":  # the scheduler knows, and has begun it again
                        sent[future] = one
                        waiting.add(future)
                        continue
                    client.cancel([future], force=True)
                    if one.again < TRIES:
                        send(replace(one, again=one.again + 1))
                        continue
                    done = lost(one.key, error)
                future.release()
                yield one.key, done
        finally:
            if sent:
                client.cancel(list(sent), force=True)

    return run


class _Room:
    """How many tasks may be in flight. Workers come and go, so they are counted again every second."""

    def __init__(self, client: Any) -> None:
        self.client, self.many, self.asked = client, 0, 0.0

    def now(self) -> int:
        if time.monotonic() - self.asked > 1 or not self.many:
            self.many, self.asked = WAITING * len(self.client.nthreads()), time.monotonic()
        return max(1, self.many)
