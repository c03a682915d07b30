"""litellm keeps its connections; they are closed with the last test that made some, else Python warns of each."""

import sys
from collections.abc import Iterator

import pytest


@pytest.fixture(scope="package", autouse=True)
def closed_clients() -> Iterator[None]:
    """Closes what litellm's cache of clients holds."""
    yield
    litellm = sys.modules.get("litellm")
    if litellm is None:
        return
    clients = [*litellm.in_memory_llm_clients_cache.cache_dict.values(), litellm.module_level_client]
    litellm.in_memory_llm_clients_cache.flush_cache()
    for client in clients:
        if hasattr(client, "close") and not hasattr(client, "__aenter__"):
            client.close()
