"""The input of study commands: QRELS RUN..., or scores that another tool computed."""

from __future__ import annotations

import functools
import glob
import os
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from steadyrank.cli import options as opt
from steadyrank.cli.command import note
from steadyrank.cli.output import Output, tell, tell_if_compiling
from steadyrank.errors import InputError

if TYPE_CHECKING:
    from steadyrank.data.forms.form import Form
    from steadyrank.data.forms.reading import Reading
    from steadyrank.data.scores import Scores


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The files and measures of a study command, and how to read them."""

    files: tuple[str, ...]
    scores_files: tuple[str, ...]
    measures: tuple[str, ...]
    reading: dict[str, Any]
    """The options about reading except --form and --runs-in-rows."""
    kind: str | None
    """The form of the files (--form); None if their content decides."""
    runs_in_rows: bool
    directions: dict[str, tuple[str, ...]]
    """The measures of --lower-is-better and of --higher-is-better."""
    is_by_content: bool = False
    """Whether scores were given without --scores, so that a line says how they were read."""

    @property
    def has_scores(self) -> bool:
        """Whether files of scores are named, by --scores or by -m NAME=FILE."""
        return bool(self.scores_files) or names_files(self.measures)


def gathered_inputs(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command its input as one `Inputs`."""

    @functools.wraps(function)
    def command(**options: Any) -> Any:
        reading = {name: options.pop(name) for name in READING}
        names = ("files", "scores_files", "measures", "kind", "runs_in_rows")
        given: Any = {name: options.pop(name) for name in names}
        directions = {name: options.pop(name) for name in WAYS}
        inputs = Inputs(reading=reading, directions=directions, **given)
        if not inputs.has_scores and hold_scores(inputs.files, inputs.kind):
            inputs = replace(inputs, files=(), scores_files=inputs.files, is_by_content=True)
        if inputs.measures and not inputs.has_scores:
            inputs = replace(inputs, measures=opt.at_given_level(inputs.measures))
        elif inputs.has_scores and opt.given_level() is not None:
            raise InputError("--rel is about judgments, and scores were given: omit it")
        return function(inputs=inputs, **options)

    return command


def hold_scores(files: Sequence[str], kind: str | None = None) -> bool:
    """Return whether files are those of a tool, or tables of scores, rather than QRELS RUN...

    The first file decides: a tool's judgments are QRELS if other files follow.
    """
    if not files or kind is not None:
        return bool(files)
    is_alone, form = len(files) == 1, form_in(files[0])
    if form is not None:
        return is_alone or form.holds != "judgments"
    from steadyrank.data.read.any_file import holds_scores, role_of_file

    is_table = any(holds_scores(path, has_qrels=True) for path in files_in(files[:1])[:1])
    return is_table or (is_alone and role_of_file(files[0]) is None)


def form_in(path: str) -> Form | None:
    """Return the form of a file, or of the first file in a folder or pattern that has one."""
    from steadyrank.data.forms.form import Source
    from steadyrank.data.forms.reading import form_of

    return next(filter(None, (form_of(Source(own)) for own in files_in([path]))), None)


TABLES = (".csv", ".tsv", ".parquet")
"""Suffixes of files that may be leaderboards over datasets."""


def is_leaderboard(files: Sequence[str]) -> bool:
    """Return whether a table has scores by dataset, in a column or in rows without topics."""
    from steadyrank.data.interop.tables import pick_column
    from steadyrank.data.read.leaderboards import DATASET_COLUMNS
    from steadyrank.data.read.score_files import is_long
    from steadyrank.data.read.sources import kind_of, open_bytes
    from steadyrank.data.read.tables import column_names, header_of
    from steadyrank.data.table_rules import names_rows

    path = Path(files[0])
    if path.suffix not in TABLES or form_in(files[0]):
        return False
    with open_bytes(path) as stream:
        is_parquet = kind_of(stream) == "parquet"
        header = column_names(path, stream) if is_parquet else header_of(stream)
    if is_long(header):
        return pick_column(header, DATASET_COLUMNS) is not None
    return names_rows(header[0]) != "topics"


def are_mteb_folders(paths: Sequence[str], kind: str | None) -> bool:
    """Return whether these are folders of MTEB results."""
    forms = [form_in(path) for path in paths if kind in (None, "mteb") and Path(path).is_dir()]
    return bool(forms) and all(form is not None and form.name == "mteb" for form in forms)


def files_in(paths: Sequence[str]) -> list[Path]:
    """Return the files of paths, folders and patterns that exist."""
    from steadyrank.data.forms.reading import files_below
    from steadyrank.data.read.streams import is_readable

    there = (Path(path) for path in paths if is_readable(Path(path)) or glob.glob(path))
    return [file for path in there for file in files_below(path)]


READING = (
    *("missing", "no_relevant", "ties", "name_from", "names", "duplicates", "run_info"),
    *("team_from", "system_from"),
)

FORM = {
    "--form kind NAME": "Read files as those of a tool, whatever their content: every-eval-ever, "
    "every-eval-ever-aggregate, inspect, lm-eval, lm-eval-results, helm, promptfoo, promptfoo-csv, "
    "deepeval, ragas, mt-bench, nuggetizer, nuggetizer-metrics, quepid-snapshot, quepid, "
    "opensearch-judgments, opensearch, mteb, arena-hard, comparia, alpaca-eval, battles, "
    "arena-hard-leaderboard, autojudge, trec-eval, ir-measures, ntcireval, rank-eval, pytrec-eval "
    "or autojudge-lines."
}

WAYS = ("lower_is_better", "higher_is_better")

DIRECTIONS = {
    f"--{way}-is-better NAME ...": f"Treat {way} scores of the measure NAME as better, whatever "
    "the files say; repeat for more."
    for way in ("lower", "higher")
}

scores_options = opt.together(
    click.argument("files", type=click.Path(), nargs=-1, metavar="[QRELS RUN... | PATH...]"),
    opt.reading_options_of(
        {
            "--scores scores_files FILE ...": (
                "Read scores instead of runs: long or wide CSV, Parquet, trec_eval -q, or another "
                "tool's output; repeat to join.",
                opt.ANY_FILE,
            ),
            **FORM,
            "--runs-in-rows": "Read a wide CSV with runs down and topics across.",
            **DIRECTIONS,
        }
    ),
    opt.missing_options,
    opt.ties_option,
    opt.names_option,
    opt.run_options,
    opt.measures_option,
    opt.rel_option,
    gathered_inputs,
)


def runs_only_options(refusal: str) -> opt.Decorator:
    """Make the arguments QRELS RUN... and a hidden --scores that raises `refusal`."""

    def refuse(ctx: click.Context, param: click.Parameter, value: str | None) -> None:
        if value is not None:
            raise InputError(refusal)

    return opt.together(
        opt.qrels_argument,
        opt.runs_argument,
        opt.names_option,
        click.option("--scores", hidden=True, expose_value=False, callback=refuse),
    )


def one_measure_option(command: str, default: str, refusal: str, text: str) -> opt.Decorator:
    """Make the option -m of a command with one measure; NAME=FILE raises `refusal`."""

    def choose(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> str:
        if names_files(values):
            raise InputError(refusal)
        names = opt.at_given_level(values or [default], ctx)
        if len(names) > 1:
            raise InputError(
                f"{command} takes one measure at a time, got {', '.join(names)}: run it once for "
                "each"
            )
        return names[0]

    how = {"callback": choose, "shell_complete": opt.complete_measure}
    return opt.together(opt.options({"-m --measure M ...": (text, how)}), opt.rel_option)


def load_scores(
    inputs: Inputs,
    output: Output,
    default_measures: tuple[str, ...] = (),
    *,
    counts_judges: bool = False,
) -> Scores:
    """Read or compute the scores of a study command.

    Without `default_measures`, the default is the first measure of `evaluate`. A note names the
    judges of the scores, unless the study `counts_judges` as a sample.
    """
    files = score_files(inputs)
    if files is not None:
        lower, higher = (inputs.directions[way] for way in WAYS)
        scores = read_score_files(files, inputs).directed(lower=lower, higher=higher)
        from steadyrank.data.read.run_info import describe_scores, with_chosen_names

        about = ("run_info", "team_from", "system_from")
        scores = describe_scores(scores, **{key: inputs.reading[key] for key in about})
        scores = with_chosen_names(scores, inputs.reading["names"])
        if not counts_judges:
            note_judges(scores)
        return scores
    qrels, runs = qrels_and_runs(inputs.files)
    tell_if_compiling(output.quiet)
    from steadyrank.measures.evaluate import evaluate

    reading: Any = inputs.reading | {"rel": opt.given_level()}
    with output.progress("runs") as progress:
        judged, measures = qrels_and_measures(qrels, inputs.measures or default_measures)
        scores = evaluate(runs, judged, measures, progress=progress, **output.machine, **reading)
    if not (inputs.measures or default_measures):
        tell_of_default(scores)
    return scores


def qrels_and_measures(
    qrels: str, measures: Sequence[str], n_default: int = 1
) -> tuple[Any, Sequence[str]]:
    """Return the judgments and the measures, by default `n_default` that suit the judgments."""
    if measures:
        return qrels, measures
    from steadyrank.data.read.run_files import judgments_of
    from steadyrank.measures.evaluate import default_measures

    judged = judgments_of(qrels)
    return judged, default_measures(judged)[:n_default]


def note_judges(scores: Scores) -> None:
    """Add a note that names the judges of the scores, if there are any."""
    from steadyrank.data.facets import judges_words

    if judges := list(dict.fromkeys(filter(None, scores.run_info.get("judge", ())))):
        note(f"this is {judges_words(judges)}")


def tell_of_default(scores: Scores) -> None:
    """Add a note that says why the default measure is not AP."""
    if scores.meta["max_grade"] > 1:
        first = " first" if len(scores.measures) > 1 else ""
        note(f"{scores.measures[0]}{first}, as the judgments are graded; -m names other measures")


def judge_option(help: str) -> opt.Decorator:
    """Make the option --judge [NAME=]QRELS, which can be repeated."""
    return opt.options({"--judge judge_files [NAME=]QRELS ...": help})


def load_graded(inputs: Inputs, output: Output, judge_files: Sequence[str]) -> Scores:
    """Return the scores with judges and answers, also from several judgments."""
    if not judge_files:
        return load_scores(inputs, output, counts_judges=True)
    if inputs.has_scores:
        raise InputError("--judge requires QRELS RUN...; scores have a column judge instead")
    return _by_judges(inputs, output, named_files("--judge", judge_files))


def _by_judges(inputs: Inputs, output: Output, judges: dict[str, str]) -> Scores:
    """Evaluate the runs by each judge of --judge, and by QRELS if the first file is judgments."""
    from steadyrank.data.facets import scores_by_judges
    from steadyrank.data.read.run_files import judgments_of

    files = inputs.files
    try:
        judgments_of(files[0] if files else "")
        judges = named_files("--judge", [files[0]]) | judges
        runs = files[1:]
    except InputError:  # of runs, which are not judgments
        runs = files
    if len(judges) < 2 or not runs:
        raise InputError("judges as a facet require runs and the judgments of at least two judges")
    made = {
        name: load_scores(replace(inputs, files=(path, *runs)), output)
        for name, path in judges.items()
    }
    return scores_by_judges(made)


def named_files(option: str, values: Sequence[str]) -> dict[str, str]:
    """Return the FILE of each NAME=FILE; a FILE without a name is named after the file.

    >>> named_files("--judge", ["gpt=a.qrels", "runs/people.txt.gz"])
    {'gpt': 'a.qrels', 'people': 'runs/people.txt.gz'}
    """
    files: dict[str, str] = {}
    for value in values:
        name, is_named, path = value.partition("=")
        if not is_named or os.path.isfile(value):  # noqa: PTH113 (False for a name that is too long)
            name, path = Path(value).name.partition(".")[0], value
        if not name or not path:
            raise InputError(f"{option} {value}: write NAME=FILE")
        if name in files:
            raise InputError(f"{option}: two judges are named {name!r}")
        files[name] = path
    return files


def run_study(
    study: Callable[..., Any],
    runs: tuple[str, ...],
    qrels: str,
    output: Output,
    blocks: str,
    **options: Any,
) -> Any:
    """Run a study of runs and judgments, whose progress is shown in `blocks` after reading."""
    with output.progress("runs read") as reading, output.progress(blocks) as progress:
        options |= {"reading": reading, "progress": progress, "rng": output.seed}
        return study(list(runs), qrels, **output.machine, **options)


def qrels_and_runs(files: tuple[str, ...], least: str = "one RUN") -> tuple[str, list[str]]:
    """Return the files of judgments and of runs; `least` says how many runs are required."""
    what = f"give QRELS and at least {least}, or --scores FILE"
    if len(files) < 2:
        raise InputError(what)
    return files[0], list(files[1:])


def score_files(inputs: Inputs) -> dict[str, str] | tuple[str, ...] | None:
    """Return the files of scores, by measure if -m names them; None for QRELS RUN..."""
    if not inputs.has_scores:
        return None
    if inputs.files:
        raise InputError("give either QRELS RUN... or scores, not both")
    by_measure = files_by_measure(inputs.measures)
    if by_measure and inputs.scores_files:
        raise InputError("give either --scores FILE or -m NAME=FILE, not both")
    return by_measure or inputs.scores_files


def names_files(measures: Sequence[str]) -> bool:
    """Return whether any measure is given with its file, as NAME=FILE."""
    return any(path for _, path in map(split_assignment, measures))


def split_assignment(text: str) -> tuple[str, str | None]:
    """Split `NAME=FILE` at the first = outside parentheses.

    >>> split_assignment("AP(rel=2)=ap.csv"), split_assignment("AP(rel=2)")
    (('AP(rel=2)', 'ap.csv'), ('AP(rel=2)', None))
    """
    depth = 0
    for place, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if character == "=" and depth == 0:
            return text[:place], text[place + 1 :]
    return text, None


def assigned(option: str, given: Iterable[str], how: str) -> dict[str, str]:
    """Parse NAME=VALUE, where `how` says how to write it; a name must not repeat."""
    found: dict[str, str] = {}
    for text in given:
        name, value = split_assignment(text)
        if not name or not value:
            raise InputError(f"{option} {text}: write {how}")
        if name in found:
            raise InputError(f"{option}: {name} is given twice: give it once")
        found[name] = value
    return found


def files_by_measure(measures: Sequence[str]) -> dict[str, str]:
    """Return the files of `-m NAME=FILE`; refuse two files for one name."""
    if not names_files(measures):
        return {}
    files: dict[str, str] = {}
    for name, path in map(split_assignment, measures):
        if path is None:
            raise InputError(f"-m {name} names no file: write -m {name}=FILE for each measure")
        if name in files:
            both = f"--scores {files[name]} --scores {path}"
            raise InputError(f"-m {name} names two files: join them with {both} -m {name}")
        files[name] = path
    return files


def read_score_files(files: dict[str, str] | tuple[str, ...], inputs: Inputs) -> Scores:
    """Read the scores of the measures that are named, by default of all."""
    from steadyrank.data.interop.objects import NO_MEASURE
    from steadyrank.data.read.score_files import read_scores

    measures = () if isinstance(files, dict) else inputs.measures
    label = measures[0] if len(measures) == 1 else None
    # Where tables and files of tools are mixed, `read_scores` finds out which is which.
    are_mixed = inputs.kind is None and len({form_in(path) is None for path in files}) > 1
    several = isinstance(files, dict) or are_mixed
    found = None if several else read_tools([*files], inputs.kind, label)
    if found is None:
        paths: Any = files_in([*files]) if inputs.is_by_content else files
        scores = read_scores(paths or files, measure=label, runs_in_rows=inputs.runs_in_rows)
        if inputs.is_by_content:
            say(f"read as scores: {repr(scores)[9:-1].replace(' ×', ',')}")
    else:
        scores = of_kind("Scores", found, [*files])
    if measures and scores.measures != (label or NO_MEASURE,):
        scores = scores.select(measures=list(measures))
    if opt.is_given("missing"):
        from steadyrank.measures.evaluate import with_missing

        scores = with_missing(scores, inputs.reading["missing"])
    return scores


def read_tools(
    files: Sequence[str],
    kind: str | None,
    measure: str | None = None,
    *,
    by_dataset: bool = False,
    columns: Mapping[str, str] | None = None,
) -> Reading | None:
    """Read files of a tool, and name it on stderr; return None if they are of no known tool.

    With `by_dataset`, scores by topic also become a table of runs by datasets.
    """
    from steadyrank.data.forms.reading import read_forms

    found = read_forms(files, form=kind, measure=measure, by_dataset=by_dataset, columns=columns)
    if found is not None:
        say(found.said)
    return found


def say(line: str) -> None:
    """Print a line on stderr immediately, unless --quiet."""
    if not click.get_current_context().params["quiet"]:
        tell(line)


COMMANDS = {"Scores": "compare", "Leaderboard": "datasets", "Battles": "battles"}
"""Kind of data to the command to try first."""


def of_kind(kind: str, found: Reading, files: Sequence[str]) -> Any:
    """Return the data if they are of a kind; otherwise an error names the command for them."""
    data: Any = found.data
    got = type(data).__name__
    if got == "Leaderboard" and len(data.datasets) == 1 and data.topic_scores:
        got = "Scores"  # a single dataset is no leaderboard over datasets
    if got == kind:
        return data
    what = found.said.removeprefix("read as ")
    if got not in COMMANDS:
        raise InputError(f"{what}: these are judgments: give runs after them")
    raise InputError(f"{what}: run {shlex.join(['steadyrank', COMMANDS[got], *files])}")
