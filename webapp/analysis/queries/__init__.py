from webapp.analysis.queries.commit_points import (
    CommitPoint,
    Previous,
    claims_of_commit,
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
    PointRow,
    PointTable,
    SidePoint,
    as_points,
)
from webapp.analysis.queries.function_series import (
    AskedFunctions,
    FunctionHistory,
    function_history,
    stored_profiles,
)
from webapp.analysis.queries.links import (
    PAIR_MARK,
    READABLE,
    TableLinks,
    compare_link,
    has_real_data,
    known_revisions,
    newest_pairs,
    releases_link,
    series_in_both,
    side_of,
    sides_of,
    trend_link,
    with_query,
)
from webapp.analysis.queries.options import (
    Curve,
    CurvePoint,
    curves_of,
    knob_number,
    measured_options,
    newest_with_both,
)
from webapp.analysis.queries.previous import (
    FLAGGED,
    OF_ANY_KIND,
    ON_DISPLAY,
    Compared,
    compared_at,
    compared_named,
    compared_since,
    on_display,
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
from webapp.analysis.queries.ranges import (
    RangeRow,
    RangeTable,
    RevisionRange,
    compare_written_ranges,
)
from webapp.analysis.queries.releases import MeasuredRelease, measured_releases, release_pair
from webapp.analysis.queries.series_state import (
    TODAY,
    Placed,
    SeriesFacts,
    build_noise_of,
    end_levels,
    facts_of,
    levels_moved,
    lost_between,
    lost_between_ranges,
    stands_by_series,
    stands_in,
    stands_of,
    summaries_of,
    today_beside,
    today_in_short,
)
from webapp.analysis.queries.side_points import Matched, compare_points, moment_of
from webapp.analysis.queries.sides import (
    AROUND_MARKS,
    BETWEEN,
    FLAVOURS,
    LEVELS,
    MOST_SIDES,
    OPTION_MARK,
    PLAIN_BLOCK,
    SESSION_MARK,
    SHOWN_PARTS,
    TRAFFIC_MARK,
    BlockOptions,
    Side,
    SideError,
    differing_parts,
    is_range,
)
from webapp.analysis.queries.unmatched import Unmatched, measured_in_neither
from webapp.analysis.queries.verdicts import (
    BUILDS_DIFFER,
    ONE_BUILD,
    RUNS_DISAGREE,
    JudgedPair,
    ModeClaim,
    PointVerdict,
    claims_of,
    judge_points,
    one_build_lines,
)
from webapp.analysis.queries.wall import (
    Stamp,
    WallSeries,
    WallTile,
    wall_series,
    wall_stamps,
    wall_tiles,
)
