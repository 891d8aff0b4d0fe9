"""What a person's real stack needs around pulumi: the engine itself, the language host, recovery after a kill, locks.

Nothing here knows of the lab, which uses it for its own runs.
"""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
"""The checkout."""
PROJECT = "talos-stacks"
"""The project's name in Pulumi.yaml, and the namespace of its configuration."""
