"""Several workers: the same marks as with one, also when a worker dies with a submission in its hands."""

import pytest

import autograder.grading.pool as pool_module
import autograder.grading.run as run_module
from autograder.grading.course import Course
from autograder.grading.pool import PoolLost, pool
from autograder.grading.run import grade
from tests.autograder.courses import ANSWERS, copy, hand_in, snapshot, writes
from tests.autograder.grading import fake

pytest.importorskip("distributed", reason="the extra `cluster` is missing: python3 -m autograder grade … --jobs 2")
dask = pytest.importorskip("dask")
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore"), pytest.mark.everything]


def test_a_worker_that_is_lost_costs_nobody_anything(plain, tmp_path, monkeypatch):
    for number in range(6):
        hand_in(plain, "plain", f"s{number}", writes(dict(list(ANSWERS.items())[: number % 4 + 1])))
    alone = copy(plain, tmp_path / "alone")
    monkeypatch.setattr(run_module, "work", fake.work)
    list(grade(Course.load(alone), "plain"))
    marker = tmp_path / "died"
    monkeypatch.setenv("DIED_ONCE", str(marker))
    monkeypatch.setattr(run_module, "work", fake.work_and_die_once)
    lines = list(grade(Course.load(plain), "plain", jobs=2))
    assert marker.exists()
    assert sorted(line.record.student for line in lines) == [f"s{number}" for number in range(6)]
    assert [line.number for line in lines] == [1, 2, 3, 4, 5, 6]
    assert snapshot(plain, "plain") == snapshot(alone, "plain")
    assert not any(line.new for line in grade(Course.load(plain), "plain"))


def test_a_submission_that_takes_every_worker_with_it_is_a_fault_and_the_others_are_graded(plain, monkeypatch):
    for student in ("s1", "s2", "s3"):
        hand_in(plain, "plain", student, writes(ANSWERS))
    monkeypatch.setenv("DIED_ONCE", "")
    monkeypatch.setattr(run_module, "work", fake.work_and_always_die)
    with dask.config.set({"distributed.scheduler.allowed-failures": 1}):  # of 3: each is a new process
        lines = {line.record.student: line.record for line in grade(Course.load(plain), "plain", jobs=2)}
    assert {one: line.state for one, line in lines.items()} == {"s1": "graded", "s2": "fault", "s3": "graded"}
    assert "lost with it" in lines["s2"].words
    assert "s2" not in snapshot(plain, "plain")


def test_a_scheduler_that_is_not_there_is_said(monkeypatch):
    monkeypatch.setattr(pool_module, "REACHING", 1)
    with pytest.raises(PoolLost, match="cannot be reached"), pool(scheduler="tcp://127.0.0.1:9"):
        pass


def test_in_this_process_the_tasks_come_one_by_one():
    taken = []

    def tasks():
        for number in range(3):
            taken.append(number)
            yield f"key {number}", number

    with pool() as run:
        results = run(lambda number: number * 2, tasks(), None)
        assert next(results) == ("key 0", 0)
        assert taken == [0]
        assert list(results) == [("key 1", 2), ("key 2", 4)]


def test_a_pool_without_any_worker_is_said_and_not_waited_for(monkeypatch):
    class Nobody:
        def scheduler_info(self):
            return {"workers": {}}

        def has_ready(self):
            return False

    monkeypatch.setattr(pool_module, "NOBODY", 0.05)
    with pytest.raises(PoolLost, match="no worker has been there"):
        pool_module._next_of(Nobody(), Nobody())


class Results:
    """A scheduler without workers of its own: `answers` says what each attempt at a task's result gives."""

    def __init__(self, monkeypatch, *answers):
        import distributed

        self.answers, self.futures, self.cancelled = list(answers), [], []
        monkeypatch.setattr(distributed, "as_completed", lambda: self)

    def nthreads(self):
        return {"worker": 1}

    def scheduler_info(self):
        return {"workers": {"worker": {}}}

    def submit(self, work, task, **options):
        return Future(self)

    def cancel(self, futures, **options):
        self.cancelled += futures

    def add(self, future):
        self.futures.append(future)

    def has_ready(self):
        return bool(self.futures)

    def __next__(self):
        return self.futures.pop(0)


class Future:
    def __init__(self, results):
        self.results, self.status = results, "finished"

    def result(self, timeout=None):
        assert timeout is not None, "a result that went with its worker is waited for without end"
        answer = self.results.answers.pop(0)
        if answer in ("pending", "finished"):
            self.status = answer
            raise TimeoutError
        return answer

    def release(self):
        pass


def outcome(results):
    return list(pool_module._handing_out(results)(str, [("key", 1)], lambda key, why: f"lost: {type(why).__name__}"))


def test_a_result_that_went_with_its_worker_is_not_waited_for_without_end(monkeypatch):
    """The scheduler has begun the task again: it is waited for anew, where a pool without workers is noticed."""
    results = Results(monkeypatch, "pending", "done")
    assert outcome(results) == [("key", "done")]
    assert not results.cancelled


def test_a_result_that_cannot_be_fetched_is_asked_for_again_and_then_given_up(monkeypatch):
    results = Results(monkeypatch, "finished", "done")
    assert outcome(results) == [("key", "done")]
    assert len(results.cancelled) == 1
    results = Results(monkeypatch, *["finished"] * (pool_module.TRIES + 1))
    assert outcome(results) == [("key", "lost: TimeoutError")]


def test_a_pool_from_which_nothing_comes_back_is_said(monkeypatch):
    results = Results(monkeypatch)
    monkeypatch.setattr(pool_module, "SILENCE", 0.05)
    with pytest.raises(PoolLost, match="no submission has come back"):
        pool_module._next_of(results, results)
