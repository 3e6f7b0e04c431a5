"""Tells the server what waits in the outbox."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from labagent.errors import RefusedError, UnavailableError
from labagent.work.api import LEASE_LOST, JobsApi
from labagent.work.document import without_time
from labagent.work.outbox import Outbox, Report, failure
from labagent.work.stops import Say

_OUR_FAULT = frozenset({401, 403})
_COUNTED = frozenset({"wrong_kernel", "wrong_job", LEASE_LOST})
"""Refusals with which the server has already drawn its conclusion about the job."""


_WORDS = {"result": "result", "fail": "failure", "profiles": "profiles"}


class Delivery:
    """Sends reports, oldest job first, each until the server has answered for it."""

    def __init__(self, api: JobsApi, outbox: Outbox, say: Say) -> None:
        self.api = api
        self.outbox = outbox
        self.say = say

    def deliver_all(self) -> None:
        """Raises `UnavailableError` when nothing gets through, `RefusedError` for a bad token.

        A report on which the server itself fails stays, and does not hold up the others.
        """
        for report in self.outbox.pending():
            try:
                self._deliver(report)
            except UnavailableError as error:
                if error.passing:
                    raise
                self.say(f"job {report.job}: {error}; the {report.kind} waits in the outbox")

    def _deliver(self, report: Report) -> None:
        try:
            self._sender(report)(report)
        except RefusedError as error:
            self._refused(report, error)
            return
        self.say(f"job {report.job}: {_WORDS[report.kind]} delivered")
        if report.kind == "result" and report.profiles:
            self.outbox.put(replace(report, kind="profiles"))
            self._deliver(self._again(report))
            return
        self.outbox.done(report)

    def _sender(self, report: Report) -> Callable[[Report], None]:
        return {
            "result": self._send_result,
            "fail": self._send_failure,
            "profiles": self._send_profiles,
        }[report.kind]

    def _send_result(self, report: Report) -> None:
        self.api.send_result(report.job, report.lease, report.body)

    def _send_profiles(self, report: Report) -> None:
        """One that is refused holds up no other."""
        refused = None
        for profile in report.profiles:
            try:
                self.api.send_profile(report.body["uuid"], profile)
            except RefusedError as error:
                if error.status in _OUR_FAULT:
                    raise
                refused = error
        if refused is not None:
            raise refused

    def _send_failure(self, report: Report) -> None:
        self.api.fail(report.job, report.lease, report.body)

    def _refused(self, report: Report, error: RefusedError) -> None:
        if error.status in _OUR_FAULT:
            raise error
        if _objects_to_time(report, error):
            self.outbox.put(replace(report, body=without_time(report.body)))
            self.say(f"job {report.job}: the server does not believe this clock; sent without time")
            self._deliver(self._again(report))
            return
        reason = "; ".join([str(error), *(f"{d.path}: {d.message}" for d in error.details)])
        path = self.outbox.refuse(report, reason)
        self.say(f"job {report.job}: {report.kind} refused: {reason}; kept in {path}")
        if report.kind == "result" and error.code not in _COUNTED and error.status != 404:
            self._report_refusal(report, reason)

    def _again(self, report: Report) -> Report:
        return next(one for one in self.outbox.pending() if one.job == report.job)

    def _report_refusal(self, report: Report, reason: str) -> None:
        """The job would otherwise stay leased until its lease runs out, and be done once more."""
        body = dict(failure("lab", f"the server refused the result: {reason}", ""))
        refusal = Report("fail", report.job, report.lease, body)
        self.outbox.put(refusal)
        self._deliver(refusal)


def _objects_to_time(report: Report, error: RefusedError) -> bool:
    named = any(detail.path.endswith("measured_at") for detail in error.details)
    return named and report.kind == "result" and report.body.get("measured_at") is not None
