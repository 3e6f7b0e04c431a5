"""What was measured, one file per part."""

from webapp.results.bounds import (
    EARLIEST,
    HARDWARE_MAX,
    INVISIBLE,
    searchable,
    storable,
    wrong_with_line,
    wrong_with_name,
    wrong_with_text,
)
from webapp.results.models.costs import CostSamples
from webapp.results.models.decisions import (
    DIRECTORY_MAX,
    AliasedRun,
    Choice,
    IdentityRule,
    NameAlias,
    PoolingDecision,
    SampleDecision,
    WaitingRun,
)
from webapp.results.models.history import (
    WAITING_FROM,
    PlaceProposal,
    Revision,
    RevisionAlias,
    RevisionQuerySet,
    Tree,
)
from webapp.results.models.profiles import FUNCTION_MAX, PROFILE_NAME_MAX, Profile, ProfiledFunction
from webapp.results.models.runs import (
    HourlyRuns,
    Kernel,
    Measurement,
    RefusedReplacement,
    Run,
    RunHistograms,
)
from webapp.results.models.series import (
    USUAL_METRIC,
    Point,
    PointQuerySet,
    Series,
    digest_of_builds,
)
from webapp.results.models.subjects import (
    DismissedTwins,
    Hardware,
    HardwareAlias,
    HardwareFact,
    MachineName,
    Metric,
    Mode,
    ModeAlias,
)
from webapp.results.models.variants import LabelRule, Variant
from webapp.results.packed import StateField, unpack_measured
from webapp.results.spellings import (
    HASH_PATTERN,
    MODE_PATTERN,
    NAME_MAX,
    PART_MAX,
    PART_PATTERN,
    ModeName,
    Span,
    VariantPart,
    as_total,
    position_of,
)
from webapp.results.validity import Kind, LeftOut, Mark, counted, why_counted
