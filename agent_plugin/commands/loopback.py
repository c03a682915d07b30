"""`blendscribe loopback`: a provider on this machine that plays scripted turns, to try any route without a key."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from agent_plugin.loopback.server import LoopbackServer


def loopback(
    turns: Annotated[
        Path, typer.Option(help="File of turns, such as configs/demo/scripted.yaml (the default).", show_default=False)
    ] = Path(),
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port on 127.0.0.1; 0: a free one.")] = 0,
    faults: Annotated[Path | None, typer.Option(help="File of faults to inject.")] = None,
    key: Annotated[str | None, typer.Option(help="Accept this key alone. Without: any.")] = None,
) -> None:
    """Play scripted turns as OpenAI, Anthropic, Gemini, Bedrock, Ollama and others, until Ctrl-C.

    Listens on 127.0.0.1 only. Prints for each route what litellm needs to reach it.
    """
    from agent_plugin.faults import bad_input
    from agent_plugin.loopback.injected import load_faults
    from agent_plugin.loopback.server import LoopbackServer
    from agent_plugin.places import CONFIGS_DIR
    from agent_plugin.scripted_file import load_scripted

    path = turns if turns != Path() else CONFIGS_DIR / "demo/scripted.yaml"
    try:
        script = load_scripted(path)
    except ValueError as error:
        raise bad_input(str(error)) from error
    wanted = load_faults(faults) if faults else []
    try:
        server = LoopbackServer(script, faults=wanted, key=key, port=port)
    except OSError as error:
        raise bad_input(f"port {port} of 127.0.0.1 cannot be used ({error.strerror})") from error
    try:
        _say(server, path)
        server.wait()
    except KeyboardInterrupt:
        pass
    finally:
        server.close()


def _say(server: "LoopbackServer", turns: Path) -> None:
    from agent_plugin.loopback.routes import ROUTES

    print(f"Playing {turns} at {server.url} until Ctrl-C. One of these, then `blendscribe run … -m MODEL`:\n")
    for name in ROUTES:
        route = server.route(name)
        settings = " ".join(f"{variable}={value}" for variable, value in route.env.items())
        how = f"export {settings}" if settings else f"model.model_kwargs in a config: {route.kwargs}"
        print(f"{name}\n  {how}\n  -m {route.model}")
    print(f"\nWhat arrived: GET {server.url}/_loopback/exchanges", flush=True)
