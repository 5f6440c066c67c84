"""CPU and wall seconds of the stages of a fit, from its log messages."""

from __future__ import annotations

import logging
import time

STAGES = {
    "searching": "neighbours",
    "solving": "solve",
    "measuring": "size",
    "comparing": "overlap",
    "refining": "refine",
    "moving": "move",
    "kept": "end",
}


class StageClock(logging.Handler):
    """Reads the clocks at each stage of a fit.

    ``with StageClock() as clock: selector.fit(X, y)``, then ``clock.cpu["solve"]``. Work after the last logged stage
    counts to that stage.
    """

    def __enter__(self) -> StageClock:
        self.cpu: dict[str, float] = {}
        self.wall: dict[str, float] = {}
        self._stage, self._started = "start", (time.process_time(), time.perf_counter())
        logger = logging.getLogger("protoset")
        logger.setLevel(logging.INFO)
        logger.addHandler(self)
        return self

    def __exit__(self, *_: object) -> None:
        self._switch("end")
        logging.getLogger("protoset").removeHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        """Take a new stage from the first word of a message."""
        stage = STAGES.get(str(record.msg).split()[0])
        # Later stages also search, on samples; moves also select, for trials.
        is_within = self._stage == "move" or (stage == "neighbours" and self._stage in ("size", "overlap"))
        if stage is not None and not is_within:
            self._switch(stage)

    def _switch(self, stage: str) -> None:
        now = (time.process_time(), time.perf_counter())
        self.cpu[self._stage] = self.cpu.get(self._stage, 0.0) + now[0] - self._started[0]
        self.wall[self._stage] = self.wall.get(self._stage, 0.0) + now[1] - self._started[1]
        self._stage, self._started = stage, now

    def line(self) -> str:
        """Format all stages in a single line."""
        named = [name for name in self.cpu if name not in ("start", "end")]
        return ", ".join(f"{name} {self.cpu[name]:.1f} s ({self.wall[name]:.1f} wall)" for name in named)
