"""What all programs of the comparison print: one JSON line a row."""

import json


def say(row, tool, found):
    print(json.dumps({"row": row, "tool": tool, **found}), flush=True)
