"""The course's tools: the launcher (`autograder.launcher`), exercises and their checks, release and grading.

Importing `autograder` imports nothing else: the launcher runs before anything is installed.
"""

import sys

if "jsonschema" not in sys.modules:
    # It reads notebooks' form, and would compile grammars of addresses in all alphabets, at every start for more than a
    # second. No notebook holds such an address.
    sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
