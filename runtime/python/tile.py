"""The package tilec by its other name: `import tile` is `import tilec as tile`."""
import sys

import tilec

sys.modules[__name__] = tilec
