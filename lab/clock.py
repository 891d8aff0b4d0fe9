"""Time in the lab: simulated seconds that pass faster than real ones."""

import asyncio
import time


class Clock:
    """Simulated seconds since the clock was made; ``speed`` of them pass in one real second.

    Owns how long a simulated boot, installation or reboot takes in reality. Real programs inside the lab (etcd) keep
    real time: never compare the two.
    """

    def __init__(self, speed: float = 1.0) -> None:
        """Start at zero; refuses a speed that is not positive."""
        if speed <= 0:
            raise ValueError(f"the lab's clock must go forward: speed {speed} is not positive")
        self.speed = speed
        self._start = time.monotonic()

    def now(self) -> float:
        """Simulated seconds since the start."""
        return (time.monotonic() - self._start) * self.speed

    def real(self, seconds: float, *, at_least: float = 0.0) -> float:
        """Real seconds that ``seconds`` simulated ones take, ``at_least`` so many (for polling real programs)."""
        return max(seconds / self.speed, at_least)

    async def sleep(self, seconds: float, *, at_least: float = 0.0) -> None:
        """Let ``seconds`` simulated seconds pass."""
        await asyncio.sleep(self.real(seconds, at_least=at_least))
