"""Progress bars."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

#: Called with the number of rows that were done since the last call.
Progress = Callable[[int], Any]


class Bar:
    """A progress bar over rows, if one is wanted."""

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
