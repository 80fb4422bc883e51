"""The table of docs/clients.md, from the outcomes that runs wrote.

    python test/clients/table.py results/

The folder holds tile-CLIENT.json and, where Triton ran too, peer-CLIENT.json.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any


def read(folder: Path, who: str) -> dict[str, dict[str, Any]]:
    """The outcomes of each client."""
    found = {}
    for path in sorted(folder.glob(f"{who}-*.json")):
        for client in json.loads(path.read_text())["clients"]:
            found[client["client"]] = client
    return found


def failures(client: dict[str, Any]) -> dict[str, str]:
    """What failed, and how."""
    return {c["name"]: c["error"] for c in client["cases"] if c["error"] is not None}


def table(folder: Path) -> str:
    ours, peer = read(folder, "tile"), read(folder, "peer")
    lines = [
        "| client | version | cases | passed | passed with Triton | of those, passed with tile |",
        "|---|---|---|---|---|---|",
    ]
    notes = []
    for name, client in ours.items():
        if "skipped" in client or "error" in client:
            notes.append(f"- {name}: {client.get('skipped') or client['error']}")
            continue
        cases = [c["name"] for c in client["cases"]]
        bad = failures(client)
        passed = len(cases) - len(bad)
        other, share = "-", "-"
        if name in peer:
            wrong = failures(peer[name])
            there = [c["name"] for c in peer[name]["cases"] if c["error"] is None]
            both = [c for c in there if c not in bad]
            other = str(len(there))
            share = f"{100 * len(both) / len(there):.1f}%" if there else "-"
            notes += [
                f"- {name}: `{c}` fails with Triton, too: {wrong[c]}" for c in bad if c in wrong
            ]
            bad = {c: e for c, e in bad.items() if c not in wrong}
        notes += [f"- {name}: `{c}`: {error}" for c, error in bad.items()]
        cells = name, client.get("version", ""), len(cases), passed, other, share
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    return "\n".join([*lines, "", *notes])


if __name__ == "__main__":
    print(table(Path(sys.argv[1])))
