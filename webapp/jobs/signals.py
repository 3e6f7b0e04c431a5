"""The one event of jobs that rooms above wait for.

`job_ended` is sent (``job``: a `Job`) inside the transaction that ends the job, so what a receiver
writes is there when the end is; what it sends must wait for the commit. A receiver that raises
undoes the end. Where a receiver queues a task, a sweep looks at the jobs that ended all the same.
"""

from django.dispatch import Signal

job_ended = Signal()
