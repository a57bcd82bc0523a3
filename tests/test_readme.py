"""The READMEs quote the benchmark as it was measured."""

import json
import re

import pytest


@pytest.mark.parametrize("name", ["README.md", "README.zh.md"])
def test_the_table_of_waiting_times_is_that_of_the_results(root, name):
    """A figure typed or left over from an older run would promise what nobody measured."""
    result = json.loads((root / "benchmarks" / "results" / "labs.json").read_text(encoding="utf-8"))
    text = (root / name).read_text(encoding="utf-8")
    table = text.partition("<!-- labs.json -->")[2].partition("<!-- /labs.json -->")[0]
    rows = [[cell.strip() for cell in line.split("|")[2:-1]] for line in table.splitlines() if line.startswith("| ")][1:]
    ratios = result["ratios_to_plain"]
    assert rows[0] == ["1", f"{ratios['pyscript_cold']:.2g}", f"{result['cold_ratio']:.2g}"]
    assert rows[1] == ["1", f"{ratios['pyscript_warm']:.2g}", f"{result['warm_ratio']:.2g}"]
    sizes = [result["bytes_gzip_of_each"][way] for way in ("plain", "pyscript", "ours")]
    assert rows[2] == [f"{size / 1e6:.1f} MB" for size in sizes]
    assert rows[3] == [f"{result['memory_mb'][way]} MB" for way in ("plain", "pyscript", "ours")]
    last = table.rstrip().splitlines()[-1]
    assert re.findall(r"\d+(?= (?:ms|毫秒))", last) == [f"{result['instant_ms_p95']:.0f}", f"{result['update_ms_p95']:.0f}"]
