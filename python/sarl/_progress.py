"""Progress bars."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

#: Told how many rows are done since the last time.
Progress = Callable[[int], Any]


class Bar:
    """A progress bar over rows, if it is asked for."""

    def __init__(self, total: int, what: str, shown: bool) -> None:
        self.bar: Any = None
        if shown:
            try:
                from tqdm.auto import tqdm
            except ImportError:
                raise ImportError("verbose=1 needs tqdm: pip install 'sarl[progress]'") from None
            self.bar = tqdm(total=total, desc=what, unit=" rows", unit_scale=True)

    def __enter__(self) -> Progress | None:
        return None if self.bar is None else self.bar.update

    def __exit__(self, *_: object) -> None:
        if self.bar is not None:
            self.bar.close()
