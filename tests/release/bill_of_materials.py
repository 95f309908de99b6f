"""Holds each file named to the schema of CycloneDX 1.6, which the library carries. Exits with 1 at the first that fails."""

import sys

from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

for path in sys.argv[1:]:
    with open(path, encoding="utf-8") as file:
        fault = JsonStrictValidator(SchemaVersion.V1_6).validate_str(file.read())
    if fault is not None:
        sys.exit(f"{path}: {fault}")
    print(f"{path}: as CycloneDX 1.6 has it")
