"""What the bench scripts share: running a program and watching it, and Markdown tables."""
import os
import shutil
import statistics
import subprocess
import sys
import time
from typing import NamedTuple

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def binary(name):
  path = os.path.join(ROOT, "build", "bin", name)
  if not os.path.exists(path):
    sys.exit(f"{path} is not there: run scripts/build.sh first")
  return path


def program(kind, nodes, folder):
  """The file of a program of bench_programs.py. Another process writes it: the peak of one that starts from here counts what this one holds."""
  path = os.path.join(folder, f"{kind}{nodes}.uop")
  if not os.path.exists(path):
    with open(path, "wb") as file:
      subprocess.run([sys.executable, os.path.join(ROOT, "scripts", "bench_programs.py"), kind, str(nodes)], stdout=file, check=True)
  return path


class Run(NamedTuple):
  seconds: float  # of the whole process
  first: float    # until it first wrote to its standard output
  cpu: float      # seconds that it kept processors busy
  peak: int       # bytes of memory
  text: str       # its standard output


def run(command):
  """Runs a command to its end; it must succeed."""
  out, inside = os.pipe()
  start = time.perf_counter()
  pid = os.posix_spawn(command[0], command, os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, inside, 1), (os.POSIX_SPAWN_CLOSE, out)])
  os.close(inside)
  pieces, first = [], None
  with os.fdopen(out, "rb", buffering=0) as stream:
    while piece := stream.read(1 << 16):
      first = first or time.perf_counter() - start
      pieces.append(piece)
  _, status, usage = os.wait4(pid, 0)
  seconds = time.perf_counter() - start
  if status != 0:
    sys.exit(f"{' '.join(command)}: exit status {os.waitstatus_to_exitcode(status)}")
  return Run(seconds, first or seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024, b"".join(pieces).decode())


def median(command, times, what=lambda r: r.seconds):
  run(command)
  return statistics.median(what(run(command)) for _ in range(times))


def instructions(command):
  """How many a command executes in user mode; None where this machine does not count them."""
  if not shutil.which("perf"):
    return None
  done = subprocess.run(["perf", "stat", "-x,", "-e", "instructions:u", "-o", "/dev/stderr", "--"] + command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
  counted = [line.split(",")[0] for line in done.stderr.splitlines() if "instructions" in line]
  return int(counted[0]) if done.returncode == 0 and counted and counted[0].isdigit() else None


def duration(seconds):
  return f"{seconds:.2f} s" if seconds >= 1 else f"{seconds * 1e3:.0f} ms" if seconds >= 0.1 else f"{seconds * 1e3:.1f} ms"


def table(head, rows):
  print("| " + " | ".join(head) + " |")
  print("|---" + "|---:" * (len(head) - 1) + "|")
  for row in rows:
    print("| " + " | ".join(str(cell) for cell in row) + " |")
