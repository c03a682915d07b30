"""Errors of services that speak OpenAI's formats: the same facts in five shapes."""

from agent_plugin.loopback.providers import Provider
from agent_plugin.loopback.refused import STATUS, RefusalKind, Refused
from agent_plugin.loopback.wire import Json, Wording

_KINDS: dict[RefusalKind, tuple[str, str | None, str]] = {
    "invalid": ("invalid_request_error", None, "Invalid request."),
    "unauthorized": ("invalid_request_error", "invalid_api_key", "Incorrect API key provided."),
    "payment": ("insufficient_quota", "insufficient_quota", "Insufficient credits."),
    "forbidden": ("invalid_request_error", "forbidden", "You are not allowed to use this model."),
    "not_found": ("invalid_request_error", "model_not_found", "The model does not exist or you have no access to it."),
    "too_large": ("invalid_request_error", "request_too_large", "The request is too large."),
    "rate_limit": ("tokens", "rate_limit_exceeded", "Rate limit reached for requests per min. Please try again later."),
    "context_window": (
        "invalid_request_error",
        "context_length_exceeded",
        "This model's maximum context length is 128000 tokens. However, your messages resulted in 131072 tokens. "
        "Please reduce the length of the messages.",
    ),
    "content_policy": (
        "invalid_request_error",
        "invalid_prompt",
        "Invalid prompt: your prompt was flagged as potentially violating our usage policy. Please try again with a "
        "different prompt.",
    ),
    "server_error": ("server_error", None, "The server had an error while processing your request. Sorry about that!"),
    "unavailable": ("service_unavailable_error", None, "The engine is currently overloaded, please try again later."),
    "overloaded": ("service_unavailable_error", None, "The engine is currently overloaded, please try again later."),
}
"""Kind -> (type, code, text)."""


_AZURE_FILTERED = (
    "The response was filtered due to the prompt triggering Azure OpenAI's content management policy. Please modify "
    "your prompt and retry."
)


def word_openai(refused: Refused, provider: Provider) -> Wording:
    """The error in this provider's dialect."""
    kind, code, text = _KINDS[refused.kind]
    status, message = STATUS[refused.kind], refused.message or text
    error: Json = {"message": message, "type": kind, "param": refused.param, "code": refused.code or code}
    body: Json = {"error": error}
    if provider.error_shape == "azure":
        if refused.kind == "content_policy":
            filtered = {"code": "content_filter", "message": _AZURE_FILTERED, "innererror": _filtered()}
            body = {"error": error | filtered}
    elif provider.error_shape == "vllm":
        name = "NotFoundError" if status == 404 else "BadRequestError" if status < 500 else "InternalServerError"
        body = {"error": {"message": message, "type": name, "param": refused.param, "code": status}}
    elif provider.error_shape == "openrouter":
        message = message.replace("This model's maximum", "This endpoint's maximum")
        body = {"error": {"message": message, "code": status, "metadata": {"provider_name": "Loopback"}}}
    elif provider.error_shape == "mistral":
        status = 422 if refused.code == "extra_forbidden" else status
        body = {"object": "error", "message": message, "type": kind, "param": refused.param, "code": refused.code}
    return Wording(status, body)


def _filtered() -> Json:
    verdict = {"filtered": True, "severity": "high"}
    return {"code": "ResponsibleAIPolicyViolation", "content_filter_result": {"violence": verdict}}
