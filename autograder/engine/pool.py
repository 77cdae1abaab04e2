"""Workers: in this process, on this machine's cores, or on a cluster. All the same to who hands out the tasks.

    with pool(jobs=8) as run: for done in run(work, tasks): …
    with pool(scheduler="tcp://host:8786") as run: …        each machine joins with `dask worker tcp://host:8786`

Dask sends a task again when its worker dies; a task does nothing but return a value, so that is harmless.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

A = TypeVar("A")
B = TypeVar("B")
Run = Callable[[Callable[[A], B], Iterable[A]], Iterator[B]]

WAITING = 4
"""Tasks on their way per worker: enough to keep it busy, few enough that a class of 5,000 is not in memory."""


@contextmanager
def pool(jobs: int = 1, scheduler: str | None = None) -> Iterator[Any]:
    """A function `run(work, tasks)` that gives results as they come. One job and no scheduler: in this process."""
    if scheduler is None and jobs <= 1:
        yield lambda work, tasks: map(work, tasks)
        return
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        raise ValueError(
            "several jobs need Dask. Install it with: python -m pip install 'distributed', or use --jobs 1"
        ) from None
    if scheduler is not None:
        with Client(scheduler) as client:
            yield _handing_out(client)
        return
    with (
        LocalCluster(
            n_workers=jobs, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
        ) as cluster,
        Client(cluster) as client,
    ):
        yield _handing_out(client)


def _handing_out(client: Any) -> Any:
    from distributed import as_completed

    def run(work: Callable[[A], B], tasks: Iterable[A]) -> Iterator[B]:
        queue = iter(tasks)
        room = WAITING * max(1, len(client.scheduler_info()["workers"]))
        waiting = as_completed()
        count = 0

        def send() -> int:
            for task in queue:
                waiting.add(client.submit(work, task, pure=False, retries=3))
                return 1
            return 0

        try:
            while count < room and send():
                count += 1
            while count:
                future = next(waiting)
                count -= 1
                yield future.result()
                future.release()
                count += send()
        finally:
            client.cancel(list(waiting.futures)) if count else None

    return run
