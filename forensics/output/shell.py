"""Words of the commands that reports print, for the shell of whoever copies them.

Here: options with names from the evidence. Not here: the commands (forensics.tools.kafka_tools, the rules).
"""

from __future__ import annotations

import shlex


def option(name: str, value: str) -> str:
    """`NAME=VALUE`, quoted. After a space, Kafka's tools would take a name such as -rf or --help for an option."""
    return f"{name}={shlex.quote(value)}"
