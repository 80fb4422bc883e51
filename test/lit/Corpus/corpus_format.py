"""The lit format of this folder: every module in it is a test by itself."""

from __future__ import annotations

import sys
from pathlib import Path

import lit.formats
import lit.util
from lit import Test


class RoundTripTest(lit.formats.FileBasedTest):
    """Runs roundtrip.py on the module."""

    def execute(self, test: Test.Test, lit_config: object) -> tuple[Test.ResultCode, str]:
        """Passes where the script does; its output says what went wrong."""
        module = Path(test.getSourcePath())
        out, err, code = lit.util.executeCommand(
            [sys.executable, str(module.with_name("roundtrip.py")), str(module)],
            env=test.config.environment,
            timeout=lit_config.maxIndividualTestTime or 0,
        )
        return (Test.PASS if code == 0 else Test.FAIL), out + err
