"""``python -m lab``."""

import sys

if sys.platform == "win32":
    sys.exit("the lab needs Linux or macOS; on Windows use WSL 2. The program itself runs here.")

from lab.cli import main

sys.exit(main())
