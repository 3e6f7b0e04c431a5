"""Spool, then send profiles, after the runs that they are of."""

from __future__ import annotations

from collections.abc import Container, Iterable
from dataclasses import dataclass, field

from labagent.client import Client
from labagent.errors import RefusedError, UnavailableError
from labagent.model import ProfileFile, Run, Skip
from labagent.readers.profiles import Profile, read_profile
from labagent.reading import UnreadFileError
from labagent.spool import Spool, SpooledProfile
from labagent.upload import PATIENT_FAILURES, detail_text

_REFUSED = frozenset({404, 409, 413, 422})


@dataclass
class ProfileTally:
    """What became of the profiles; `waiting` stay in the spool, because of their run or because the
    server failed on them."""

    stored: int = 0
    known: int = 0
    waiting: int = 0
    rejected: list[Skip] = field(default_factory=list)

    def __bool__(self) -> bool:
        """Whether there was any profile."""
        return bool(self.stored or self.known or self.waiting or self.rejected)

    def __str__(self) -> str:
        waiting = f", waiting {self.waiting}" if self.waiting else ""
        counts = f"stored {self.stored}, known {self.known}, rejected {len(self.rejected)}"
        return f"profiles {counts}{waiting}"


def profile_of(file: ProfileFile) -> Profile:
    """The profile with what its directory says of it. Raises UnreadFileError."""
    profile = read_profile(file.path)
    profile.iteration, profile.pps = file.iteration, file.pps
    return profile


def spool_profiles(spool: Spool, runs: Iterable[Run], aside: Container[str]) -> list[Skip]:
    """Put the profiles of runs to disk, except of those set ``aside`` (by UUID); what is not
    read."""
    unread = []
    for run in runs:
        for file in run.profiles if str(run.uuid) not in aside else ():
            try:
                spool.add_profile(str(run.uuid), profile_of(file).document())
            except UnreadFileError as error:
                unread.append(unread_profile(error))
    return unread


def unread_profiles(runs: Iterable[Run]) -> list[Skip]:
    """The profiles that cannot be read, and why."""
    unread = []
    for file in (file for run in runs for file in run.profiles):
        try:
            profile_of(file)
        except UnreadFileError as error:
            unread.append(unread_profile(error))
    return unread


def unread_profile(error: UnreadFileError) -> Skip:
    """A profile that cannot be read, with the remedy."""
    remedy = f" ({error.remedy})" if error.remedy else ""
    return Skip(str(error.path), f"profile {error.reason}{remedy}", unread=True)


class ProfileSender:
    """Sends the profiles that the spool holds. Those of `absent` runs (by UUID) wait: the server
    does not have their run yet. Any error but a refusal of single profiles stops it; what was not
    answered for stays in the spool.
    """

    def __init__(self, client: Client, spool: Spool, absent: Container[str] = ()) -> None:
        self.client = client
        self.spool = spool
        self.absent = absent
        self.tally = ProfileTally()
        self._failures = 0

    def send_all(self) -> ProfileTally:
        """Send every profile, the oldest first; what became of them."""
        for path in self.spool.profiles():
            profile = self.spool.load_profile(path)
            if profile and profile.run in self.absent:
                self.tally.waiting += 1
            elif profile:
                self._send(profile)
        return self.tally

    def _send(self, profile: SpooledProfile) -> None:
        try:
            is_new = self.client.send_profile(profile.run, profile.document)
        except RefusedError as error:
            self._refuse(profile, error)
            return
        except UnavailableError as error:
            self._failures += 1
            if error.passing or self._failures >= PATIENT_FAILURES:
                raise
            self.tally.waiting += 1
            return
        self.tally.stored += is_new
        self.tally.known += not is_new
        self.spool.done_profile(profile)

    def _refuse(self, profile: SpooledProfile, error: RefusedError) -> None:
        if error.status not in _REFUSED:
            raise error
        reason = detail_text(error.details) or str(error)
        self.spool.reject_profile(profile, reason)
        where = f"{profile.document.get('name')} of run {profile.run}"
        self.tally.rejected.append(Skip(where, reason))
