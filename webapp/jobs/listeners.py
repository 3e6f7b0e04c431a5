"""Who wants to know that a job ended.

Jobs know nothing of bisects, which stand above them: those register a function. It is called in
the transaction that ends the jobs, so what it writes is there when the end is; what it sends must
wait for ``on_commit``. It must not fail for a job that it does not know. A periodic look at
``Job.objects.ended()`` is needed all the same only where a listener queues a task.
"""

from collections.abc import Callable, Sequence

Listener = Callable[[Sequence[int]], None]
_listeners: list[Listener] = []


def on_job_ended(listener: Listener) -> Listener:
    """Have the decorated function called with the ids of jobs that ended; once however often."""
    if listener not in _listeners:
        _listeners.append(listener)
    return listener


def tell_ended(jobs: Sequence[int]) -> None:
    """Call every listener. For the services that end jobs."""
    for listener in _listeners:
        listener(jobs)
