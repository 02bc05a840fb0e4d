"""The command ``python -m genalpha.build_assimulo``."""

import sys

from genalpha.build_assimulo.command import main

if __name__ == "__main__":
    sys.exit(main())
