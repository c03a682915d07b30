"""Secrets of a config are found under any name that a provider or a gateway may have for them."""

import json
from typing import Any

import pytest

from recorder.config_secrets import HARMLESS, secrets_in, without_secrets
from recorder.redaction import Redactor

REMOVED = "[removed: secret]"
SECRET = "correct-horse-battery"


@pytest.mark.parametrize("mapping", ["extra_headers", "headers", "default_headers", "extra_query", "default_query"])
@pytest.mark.parametrize(
    "name",
    [
        "X-Auth",
        "Cookie",
        "Ocp-Apim-Subscription-Key",
        "X-Amz-Security-Token",
        "X-Session",
        "subscription",
        "OpenAI-Organization",
        "anything",
    ],
)
def test_every_header_and_query_parameter_is_a_secret(mapping: str, name: str) -> None:
    """Whatever its name: a gateway has names of its own."""
    config = {"model_kwargs": {mapping: {name: SECRET}}}
    assert secrets_in(config) == [SECRET]
    assert without_secrets(config) == {"model_kwargs": {mapping: {name: REMOVED}}}


@pytest.mark.parametrize("name", sorted(HARMLESS))
def test_harmless_headers_stay(name: str) -> None:
    """They say how a request was made, in any case of their letters."""
    config = {"extra_headers": {name: "value-of-it", name.title(): "value-of-it"}}
    assert without_secrets(config) == config
    assert secrets_in(config) == []


@pytest.mark.parametrize(
    "value",
    [[["X-Auth", SECRET]], f"X-Auth: {SECRET}", {"X-Auth": [SECRET]}, [{"X-Auth": SECRET}], {"X-Auth": {"a": SECRET}}],
)
def test_headers_in_any_form_are_secret(value: Any) -> None:
    """Pairs, a line, lists and mappings."""
    cleaned = json.dumps(Redactor(secrets=secrets_in({"headers": value})).clean(without_secrets({"headers": value})))
    assert SECRET not in cleaned


@pytest.mark.parametrize(
    ("url", "cleaned", "secrets"),
    [
        ("https://h/v1?sig=abc%2Fdef123&code=x", f"https://h/v1?sig={REMOVED}&code={REMOVED}", ["abc%2Fdef123"]),
        ("https://me:pass-word@h/v1", f"https://{REMOVED}@h/v1", ["pass-word"]),
        ("https://token-alone@h/v1", f"https://{REMOVED}@h/v1", ["token-alone"]),
        ("https://h/v1?api-version=2024-06-01", "https://h/v1?api-version=2024-06-01", []),
        ("http://127.0.0.1:8000/v1", "http://127.0.0.1:8000/v1", []),
    ],
)
def test_a_url_loses_its_user_and_its_query(url: str, cleaned: str, secrets: list[str]) -> None:
    """An address is kept as far as it is one."""
    config = {"model_kwargs": {"api_base": url, "more": [f"see {url}"]}}
    assert without_secrets(config) == {"model_kwargs": {"api_base": cleaned, "more": [f"see {cleaned}"]}}
    assert set(secrets) <= set(secrets_in(config))


def test_what_a_url_spells_otherwise_is_a_secret_too() -> None:
    """A provider repeats a value as it read it."""
    assert secrets_in({"api_base": "https://h/?sig=abc%2Fdef"}) == ["abc%2Fdef", "abc/def"]


def test_prompts_keep_their_addresses() -> None:
    """A template is read by the model, and is no place for a key."""
    config = {"agent": {"system_template": "See https://docs.blender.org/search?q=bevel"}}
    assert without_secrets(config) == config


def test_short_secrets_leave_the_config_though_not_every_text() -> None:
    """`abc` is removed where it stands; in a text it may be a word."""
    config = {"model_kwargs": {"api_key": "abc", "extra_headers": {"Authorization": "Bearer ab1"}, "secret": 12345678}}
    cleaned = {"api_key": REMOVED, "extra_headers": {"Authorization": REMOVED}, "secret": REMOVED}
    assert without_secrets(config) == {"model_kwargs": cleaned}
    assert Redactor(secrets=secrets_in(config)).clean("abc 12345678") == f"abc {REMOVED}"


def test_short_secrets_that_are_no_words_leave_every_text() -> None:
    """Letters and digits together are enough from six characters on."""
    secrets = secrets_in({"extra_headers": {"X-Auth": "Bearer a1b2c3"}})
    assert Redactor(secrets=secrets).clean("got a1b2c3") == f"got {REMOVED}"


def test_a_body_is_kept_but_for_what_is_named_like_a_secret() -> None:
    """It shapes the answer, which a record has to say."""
    body = {"top_k": 20, "chat_template_kwargs": {"enable_thinking": False}, "session": SECRET, "max_key": 3}
    assert without_secrets({"extra_body": body}) == {"extra_body": body | {"session": REMOVED}}


def test_a_config_tells_its_secrets() -> None:
    """Keys anywhere in a config, and variables for bash that are named like one."""
    config = {
        "model": {"model_kwargs": {"api_key": "k1", "extra_headers": [{"Authorization": "k2"}], "max_tokens": 5}},
        "environment": {"env": {"HF_TOKEN": "k3", "LANG": "C"}, "timeout": 1},
    }
    assert secrets_in(config) == ["k1", "k2", "k3"]


def test_what_is_not_set_stays_and_cleaning_twice_changes_nothing() -> None:
    """None, false and '' say that there is no secret; a note is none."""
    config = {"api_key": None, "headers": {"A": ""}, "password": False, "tokens": 2, "extra_query": {}}
    assert without_secrets(config) == config
    once = without_secrets({"api_key": SECRET, "url": "http://a:b@c/?d=e"})
    assert without_secrets(once) == once
    assert secrets_in(once) == []
