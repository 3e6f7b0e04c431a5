from webapp.analysis.queries.asof import moment_of
from webapp.analysis.queries.blocks import FLAVOURS, LEVELS, PLAIN_BLOCK, BlockOptions
from webapp.analysis.queries.claims import ModeClaim
from webapp.analysis.queries.commit_points import (
    CommitPoint,
    Previous,
    judge_commit,
    points_of_rows,
    rows_of_commit,
)
from webapp.analysis.queries.compare import compare_sides
from webapp.analysis.queries.compared import (
    BLOCK_IGNORES,
    EPOCH_BETWEEN,
    OTHER_EPOCH,
    ComparedRow,
    ComparedSet,
    ComparedTable,
)
from webapp.analysis.queries.function_series import (
    AskedFunctions,
    FunctionHistory,
    function_history,
    stored_profiles,
)
from webapp.analysis.queries.knobs import Curve, CurvePoint, curves_of, knob_number
from webapp.analysis.queries.links import (
    PAIR_MARK,
    READABLE,
    TableLinks,
    compare_link,
    releases_link,
    side_of,
    sides_of,
    trend_link,
    with_query,
)
from webapp.analysis.queries.noise import SeriesFacts, build_noise_of, facts_of
from webapp.analysis.queries.one_build import one_build_lines
from webapp.analysis.queries.options import (
    measured_options,
    newest_with_both,
)
from webapp.analysis.queries.profiled import (
    ProfiledPair,
    ProfiledSide,
    idle_patterns,
    profiled_around,
    profiled_cells,
    profiled_pair,
    profiled_side,
)
from webapp.analysis.queries.profiled_kernels import (
    Gap,
    Kernel,
    Subject,
    address_of,
    kernel_of,
    pair_around,
    profiled_among,
    title_of,
)
from webapp.analysis.queries.range_values import RevisionRange
from webapp.analysis.queries.ranges import (
    AROUND_MARKS,
    BETWEEN,
    RangeRow,
    RangeTable,
    compare_written_ranges,
    is_range,
)
from webapp.analysis.queries.ready import (
    has_real_data,
    known_revisions,
    newest_pairs,
)
from webapp.analysis.queries.releases import (
    MeasuredRelease,
    measured_releases,
    release_pair,
)
from webapp.analysis.queries.side_points import (
    PointRow,
    PointTable,
    SidePoint,
    as_points,
    compare_points,
)
from webapp.analysis.queries.sides import (
    MOST_SIDES,
    OPTION_MARK,
    SESSION_MARK,
    SHOWN_PARTS,
    Side,
    SideError,
    differing_parts,
)
from webapp.analysis.queries.unmatched import Unmatched, measured_in_neither
from webapp.analysis.queries.verdicts import (
    BUILDS_DIFFER,
    RUNS_DISAGREE,
    PointVerdict,
    judge_points,
)
from webapp.analysis.queries.wall import WallSeries, WallTile, wall_series, wall_tiles

__all__ = [
    "AROUND_MARKS",
    "BETWEEN",
    "BLOCK_IGNORES",
    "BUILDS_DIFFER",
    "EPOCH_BETWEEN",
    "FLAVOURS",
    "LEVELS",
    "MOST_SIDES",
    "OPTION_MARK",
    "OTHER_EPOCH",
    "PAIR_MARK",
    "PLAIN_BLOCK",
    "READABLE",
    "RUNS_DISAGREE",
    "SESSION_MARK",
    "SHOWN_PARTS",
    "AskedFunctions",
    "BlockOptions",
    "CommitPoint",
    "ComparedRow",
    "ComparedSet",
    "ComparedTable",
    "Curve",
    "CurvePoint",
    "FunctionHistory",
    "Gap",
    "Kernel",
    "MeasuredRelease",
    "ModeClaim",
    "PointRow",
    "PointTable",
    "PointVerdict",
    "Previous",
    "ProfiledPair",
    "ProfiledSide",
    "RangeRow",
    "RangeTable",
    "RevisionRange",
    "SeriesFacts",
    "Side",
    "SideError",
    "SidePoint",
    "Subject",
    "TableLinks",
    "Unmatched",
    "WallSeries",
    "WallTile",
    "address_of",
    "as_points",
    "build_noise_of",
    "compare_link",
    "compare_points",
    "compare_sides",
    "compare_written_ranges",
    "curves_of",
    "differing_parts",
    "facts_of",
    "function_history",
    "has_real_data",
    "idle_patterns",
    "is_range",
    "judge_commit",
    "judge_points",
    "kernel_of",
    "knob_number",
    "known_revisions",
    "measured_in_neither",
    "measured_options",
    "measured_releases",
    "moment_of",
    "newest_pairs",
    "newest_with_both",
    "one_build_lines",
    "pair_around",
    "points_of_rows",
    "profiled_among",
    "profiled_around",
    "profiled_cells",
    "profiled_pair",
    "profiled_side",
    "release_pair",
    "releases_link",
    "rows_of_commit",
    "side_of",
    "sides_of",
    "stored_profiles",
    "title_of",
    "trend_link",
    "wall_series",
    "wall_tiles",
    "with_query",
]
