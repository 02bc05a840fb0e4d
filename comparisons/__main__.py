"""``python -m comparisons``."""

import sys

from comparisons.cli import main

sys.exit(main())
