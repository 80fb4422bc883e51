"""What each kind of finding means, and what to do about it."""

from __future__ import annotations

from tile._C import sim as _sim

#: By the name of the kind. The table is `include/tile/Rules/Kinds.def`.
KINDS: dict[str, str] = {kind: meaning for kind, (meaning, _) in _sim.KINDS.items()}
#: Of those kinds for which it is always the same.
REMEDIES: dict[str, str] = {kind: remedy for kind, (_, remedy) in _sim.KINDS.items() if remedy}
#: The rules of races and barriers that the simulator and `consan` share: kind and text.
RULES: list[tuple[str, str]] = list(_sim.RULES)
