"""The plugin process: ``python -m lab.standin.talos ENGINE``."""

from lab.standin.serve import main
from lab.standin.talos.provider import Talos

if __name__ == "__main__":
    main(Talos())
