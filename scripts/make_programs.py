#!/usr/bin/python3
"""Writes testdata/programs: programs of our own with the results that numpy says are right."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs"))
import calls  # noqa: E402
import failures  # noqa: E402
import kernels  # noqa: E402
import ops  # noqa: E402
import sums  # noqa: E402

for family in (ops, kernels, calls, failures, sums):
  family.write()
