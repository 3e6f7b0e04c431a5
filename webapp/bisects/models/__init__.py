"""The search for one commit, one file per part."""

from webapp.bisects.models.bisects import Bisect, BisectSettings, BisectSubject
from webapp.bisects.models.decisions import BisectAct, BisectBoot, BisectDecision, BisectJob
