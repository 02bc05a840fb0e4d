"""``python -m comparisons.bench``."""

import sys

from comparisons.bench.cli import main

sys.exit(main())
