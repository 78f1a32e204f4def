"""Figures as docs/figures keeps them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "figures"


def store(name: str, measured: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Writes a table, one row to a line; `cargo xtask figures --stored` puts it into the pages."""
    line = lambda value: json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    text = ",\n    ".join(line(list(row)) for row in rows)
    head = f'  "measured": {line(measured)},\n  "columns": {line(list(columns))},\n'
    (FOLDER / f"{name}.json").write_text(f'{{\n{head}  "rows": [\n    {text}\n  ]\n}}\n')
