"""``python -m protoset``."""

import sys

from protoset.cli import main

sys.exit(main())
