"""Progress bars."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

#: Called with the number of rows that were done since the last call.
Progress = Callable[[int], Any]


class Bar:
    """A progress bar over rows, or other things, if one is wanted."""

    def __init__(self, total: int | None, what: str, shown: bool, unit: str = " rows") -> None:
        self.bar: Any = None
        if shown:
            try:
                from tqdm.auto import tqdm
            except ImportError:
                raise ImportError("verbose=1 needs tqdm: pip install 'sarl[progress]'") from None
            self.bar = tqdm(total=total, desc=what, unit=unit, unit_scale=True)

    def __enter__(self) -> Progress | None:
        return None if self.bar is None else self.bar.update

    def __exit__(self, *_: object) -> None:
        if self.bar is not None:
            self.bar.close()


class Steps:
    """A progress bar over the steps of long work, if it is asked for; results come above it."""

    def __init__(self, what: str, shown: bool) -> None:
        self.bar: Any = Bar(0, what, shown).bar
        if self.bar is not None:
            self.bar.unit, self.bar.unit_scale = " runs", False

    def __enter__(self) -> Callable[[str, int, int, list[str]], None] | None:
        return None if self.bar is None else self._show

    def _show(self, what: str, done: int, of: int, lines: list[str]) -> None:
        for line in lines:
            self.bar.write(line)
        self.bar.set_description(what, refresh=False)
        self.bar.total = of or None
        self.bar.n = done
        self.bar.refresh()

    def __exit__(self, *_: object) -> None:
        if self.bar is not None:
            self.bar.close()
