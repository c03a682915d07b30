"""`python -m tests.launch.provider SCRIPT PORT`: a loopback provider that can be killed. Prints its port first."""

import sys
from pathlib import Path

from agent_plugin.loopback.server import LoopbackServer

if __name__ == "__main__":
    server = LoopbackServer(Path(sys.argv[1]), port=int(sys.argv[2]), keep=10)
    print(server.url.rpartition(":")[2], flush=True)
    server.wait()
