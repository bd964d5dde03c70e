"""Files that the tools themselves write, installed for this: the long checks.

Each tool runs on four questions in a new environment, and the mean of its scores is known; where it
cannot be installed or run, the check is skipped and says why.
"""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import venv

import pytest

import steadyrank as sr

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::steadyrank.SteadyrankWarning")]

INSPECT = """
from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput, get_model
from inspect_ai.scorer import match

answers = [ModelOutput.from_content("mockllm/model", a) for a in ("Rome", "Bonn", "Rome", "Bern")]
task = Task(
    dataset=[Sample(id=k, input=f"Capital {k}?", target="Rome") for k in range(4)], scorer=match()
)
(log,) = eval(
    task, model=get_model("mockllm/model", custom_outputs=answers), log_dir="out",
    display="none", max_samples=1, max_connections=1,
)
assert log.status == "success", log.error.message[:150]
"""

DEEPEVAL = """
from deepeval import evaluate
from deepeval.evaluate import AsyncConfig
from deepeval.metrics import ExactMatchMetric
from deepeval.test_case import LLMTestCase

cases = [
    LLMTestCase(input=f"Capital {k}?", actual_output=answer, expected_output="Rome")
    for k, answer in enumerate(("Rome", "Bonn", "Rome", "Bern"))
]
evaluate(cases, [ExactMatchMetric()], async_config=AsyncConfig(run_async=False))
"""

RAGAS = """
import warnings
warnings.simplefilter("ignore")
from pathlib import Path
from ragas import EvaluationDataset, evaluate
from ragas.metrics import ExactMatch

rows = [
    {"user_input": f"Capital {k}?", "response": answer, "reference": "Rome"}
    for k, answer in enumerate(("Rome", "Bonn", "Rome", "Bern"))
]
Path("out").mkdir()
found = evaluate(EvaluationDataset.from_list(rows), metrics=[ExactMatch()])
found.to_pandas().to_csv("out/ragas.csv", index=False)
"""

LM_EVAL = """
import json, subprocess, sys
from pathlib import Path

rows = [{"q": f"Capital {k}?", "a": "lol" if k % 2 else "Rome"} for k in range(4)]
Path("rows.jsonl").write_text("".join(json.dumps(row) + "\\n" for row in rows))
Path("capitals.yaml").write_text(
    "task: capitals\\ndataset_path: json\\ndataset_kwargs: {data_files: {test: rows.jsonl}}\\n"
    "test_split: test\\noutput_type: generate_until\\ndoc_to_text: '{{q}}'\\n"
    "doc_to_target: '{{a}}'\\ngeneration_kwargs: {until: ['.']}\\n"
    "metric_list:\\n  - metric: exact_match\\n    aggregation: mean\\n    higher_is_better: true\\n"
)
words = "-m lm_eval --model dummy --tasks capitals --include_path . --output_path out --log_samples"
subprocess.run([sys.executable, *words.split()], check=True)
"""

TOOLS = {
    "inspect": (["inspect-ai"], INSPECT, "match"),
    "deepeval": (["deepeval"], DEEPEVAL, "Exact Match"),
    "ragas": (["ragas", "langchain-community<0.4"], RAGAS, "exact_match"),
    "lm-eval": (["lm_eval"], LM_EVAL, "exact_match"),
}
"""Tool to the packages that it needs, what runs it, and the measure, whose mean is .5."""


def made_by(packages, script, folder):
    """The folder that the tool has written into; skipped where it could not."""
    venv.create(folder / "venv")
    python = folder / "venv" / "bin" / "python"
    (folder / "run.py").write_text(script)
    quiet = {"DEEPEVAL_RESULTS_FOLDER": "out", "DEEPEVAL_TELEMETRY_OPT_OUT": "YES"}
    quiet |= {"RAGAS_DO_NOT_TRACK": "true", "HOME": str(folder)}
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "-q", "--no-compile"]
    steps = [[*pip, *packages]] if packages else []
    for step in [*steps, [python, "run.py"]]:
        done = subprocess.run(
            step, cwd=folder, capture_output=True, text=True, timeout=1200, env=os.environ | quiet
        )
        if done.returncode:
            said = (done.stderr or done.stdout).strip().splitlines() or ["no message"]
            pytest.skip(f"{' '.join(map(str, step[-2:]))}: {textwrap.shorten(said[-1], 200)}")
    return folder / "out"


@pytest.mark.skipif(sys.platform == "win32", reason="paths of a virtual environment on Linux")
@pytest.mark.parametrize("tool", TOOLS)
def test_what_a_tool_writes_has_its_mean(tool, tmp_path):
    packages, script, measure = TOOLS[tool]
    scores = sr.read_scores(made_by(packages, script, tmp_path)).select(measures=measure)
    assert scores.mean().tolist() == [[0.5]]
    assert scores.values.size == 4
