"""litellm keeps connections, and drops some without closing them: none is left for a test of another module to meet."""

import gc
import sys
import warnings
from collections.abc import Iterator

import pytest


@pytest.fixture(scope="module", autouse=True)
def closed_clients() -> Iterator[None]:
    """After each module, closes what litellm's cache of clients holds and collects what it dropped."""
    yield
    litellm = sys.modules.get("litellm")
    if litellm is None:
        return
    clients = [*litellm.in_memory_llm_clients_cache.cache_dict.values(), litellm.module_level_client]
    litellm.in_memory_llm_clients_cache.flush_cache()
    for client in clients:
        if hasattr(client, "close") and not hasattr(client, "__aenter__"):
            client.close()
    del clients
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()
