"""The plugin process: ``python -m lab.standin.proxmoxve ENGINE``."""

from lab.standin.proxmoxve.provider import Proxmoxve
from lab.standin.serve import main

if __name__ == "__main__":
    main(Proxmoxve())
