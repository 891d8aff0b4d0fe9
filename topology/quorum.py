"""What the loss of one zone leaves of a quorum: etcd's, and the storage cluster's."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Loss:
    """A zone that holds ``held`` of ``total`` votes."""

    zone: str
    held: int
    total: int

    @property
    def left(self) -> int:
        """How many votes are left without the zone."""
        return self.total - self.held

    @property
    def majority(self) -> int:
        """How many votes a majority is."""
        return self.total // 2 + 1

    @property
    def survives(self) -> bool:
        """Whether a majority is left."""
        return self.left >= self.majority

    def words(self, votes: str) -> str:
        """The arithmetic: ``has 2 of 3 control planes; losing it leaves 1, and a majority is 2``."""
        return (
            f"has {self.held} of {self.total} {votes}; losing it leaves {self.left}, and a majority is {self.majority}"
        )
