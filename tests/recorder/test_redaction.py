"""Secrets and host paths do not get through; ordinary text does."""

import json
from pathlib import Path

import pytest

from recorder.redaction import Redactor, is_secret_field, is_secret_name

SECRET = "correct-horse-battery"

ORDINARY = [
    "keyframes = 12; max_tokens = 400; tokenizer",
    "Key light and key_light at (0, 0, 3)",
    "root bone; bpy.data.objects['root']; rig/root; armature.001/root/spine",
    "secret garden, password-like doors, credential nothing",
    "the task-completed-successfully flag",
    "AKIA is short; sk-short; hf_no",
    "/workspace/main.py line 3; /tmp/home; /opt/blender/bin/python",
    'print("Bearer of news")',
    "€ ünïcode 漢字 🙂 \u2028",
]


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_text_is_left_alone(text: str) -> None:
    """Words that merely look like names of secrets or folders stay."""
    redactor = Redactor(secrets=[SECRET], folders={"/root": "<home>", "/srv/clone": "<project>"})
    assert redactor.clean(text) == text
    assert not +redactor.counts


@pytest.mark.parametrize(
    "key",
    [
        "sk-ant-" + "a1B2" * 9,
        "sk-proj-" + "a1B2" * 6,
        "ghp_" + "a1B2" * 9,
        "github_pat_" + "a1B2" * 9,
        "hf_" + "a1B2" * 7,
        "AKIA" + "ABCD1234" * 2,
        "AIza" + "a1B2" * 9,
        "gsk_" + "a1B2" * 6,
        "xai-" + "a1B2" * 6,
        "xoxb-123456789012-abcdef",
    ],
)
def test_key_shaped_strings_are_removed(key: str) -> None:
    """Keys of well-known services are known by their shape, wherever they stand."""
    redactor = Redactor()
    assert redactor.clean(f"export K={key}; echo '{key}'") == "export K=[removed: key]; echo '[removed: key]'"
    assert redactor.counts["key"] == 2


@pytest.mark.parametrize("token", ["abcdefghij0123456789.xyz", "abcdefghijklmnopqrstuvw", "ab-12cd"])
def test_bearer_tokens_are_removed(token: str) -> None:
    """An authorization header in a text loses its token, also a short one that is no word."""
    assert Redactor().clean(f"Authorization: Bearer {token}") == "Authorization: Bearer [removed: key]"


@pytest.mark.parametrize("name", ["OPENAI_API_KEY", "GITHUB_TOKEN", "my_secret", "DbPassword", "AWS_CREDENTIAL_FILE"])
def test_environment_variables_are_secret_by_their_name(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The value of a variable whose name says so is a secret."""
    monkeypatch.setenv(name, SECRET)
    cleaned = Redactor.for_this_machine().clean({"output": f"value: {SECRET}!"})
    assert is_secret_name(name)
    assert cleaned == {"output": "value: [removed: secret]!"}


def test_short_values_are_no_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    """TOKENIZERS_PARALLELISM=false does not remove every 'false'."""
    monkeypatch.setenv("TOKENIZERS_PARALLELISM", "false")
    assert Redactor.for_this_machine().clean("false") == "false"


@pytest.mark.parametrize(
    "field",
    ["api_key", "apiKey", "x-api-key", "aws_secret_access_key", "aws_session_token", "Authorization", "db_password"],
)
def test_fields_named_for_a_secret_lose_their_value(field: str) -> None:
    """The value of such a field goes, whatever it looks like."""
    redactor = Redactor()
    assert redactor.clean({"outer": [{field: "abc", "n": 1}]}) == {"outer": [{field: "[removed: secret]", "n": 1}]}
    assert redactor.clean({field: {"kid": "abc"}}) == {field: "[removed: secret]"}
    assert redactor.counts["secret"] == 2


@pytest.mark.parametrize("field", ["keyframes", "max_tokens", "prompt_tokens", "key", "keys", "author", "monkey_key"])
def test_other_fields_keep_theirs(field: str) -> None:
    """Fields of usage and of scenes are not secrets."""
    assert not is_secret_field(field)
    assert Redactor().clean({field: 12, "value": "a"}) == {field: 12, "value": "a"}


def test_values_that_are_not_set_stay() -> None:
    """None, false and '' say that there is no secret, and a number is a count."""
    value = {"api_key": None, "password": "", "use_api_key": False, "secret": 2}
    assert Redactor().clean(value) == value


def test_cleaning_twice_changes_and_counts_nothing() -> None:
    """What was removed once is not counted again."""
    redactor = Redactor(secrets=[SECRET])
    once = redactor.clean({"api_key": "abc", "text": SECRET})
    counts = dict(redactor.counts)
    assert redactor.clean(once) == once
    assert dict(redactor.counts) == counts


@pytest.mark.parametrize("secret", ['quo"te\\slash-long', "ünïcode-geheim-€", "line\nbreak-secret"])
def test_secrets_inside_json_strings_are_found(secret: str) -> None:
    """A tool call carries its arguments as JSON in a string: the escaped form goes too, and the JSON stays valid."""
    redactor = Redactor(secrets=[secret])
    for ascii_only in (True, False):
        arguments = json.dumps({"command": f"echo {secret} {secret}"}, ensure_ascii=ascii_only)
        cleaned = redactor.clean({"arguments": arguments})["arguments"]
        assert json.loads(cleaned) == {"command": "echo [removed: secret] [removed: secret]"}


def test_secrets_in_keys_are_removed() -> None:
    """Keys of mappings are text too."""
    assert Redactor(secrets=[SECRET]).clean({SECRET: 1}) == {"[removed: secret]": 1}


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("/home/ann/x/main.py", "<ws>/main.py"),
        ("/home/ann/x", "<ws>"),
        ("/home/ann/xylophone", "<home>/xylophone"),
        ("/home/anna", "/home/anna"),
        ("file:///home/ann/a", "file://<home>/a"),
        ("-I/home/ann/include", "-I<home>/include"),
        ("/root/.ssh", "<root>/.ssh"),
        ("PATH=/root/bin:/root", "PATH=<root>/bin:<root>"),
        ("rig/root/spine", "rig/root/spine"),
    ],
)
def test_folders_are_renamed(text: str, cleaned: str) -> None:
    """The longest known folder is replaced, whole names only."""
    redactor = Redactor(folders={"/home/ann": "<home>", "/home/ann/x/": "<ws>", "/root": "<root>", "/": "<all>"})
    assert redactor.clean(text) == cleaned


def test_names_of_a_scene_are_no_fields() -> None:
    """Where keys are what a script named so, only strings are cleaned, and nothing is removed for its key."""
    redactor = Redactor(secrets=["hush-hush"], folders={"/work/x": "<x>"})
    scene = {"Object/Secret door": {"password": "/work/x/a", "hush-hush": ["hush-hush", 1, None]}}
    removed = "[removed: secret]"
    assert redactor.clean_texts(scene) == {"Object/Secret door": {"password": "<x>/a", removed: [removed, 1, None]}}
    assert redactor.clean(scene) == {"Object/Secret door": removed}


def test_home_and_project_are_known() -> None:
    """A redactor for this machine hides the home folder and the place of the code."""
    project = Path(__file__).resolve().parents[2]
    cleaned = Redactor.for_this_machine().clean(f"{project}/harness/log.py {Path.home()}/.netrc")
    assert cleaned == "<project>/harness/log.py <home>/.netrc"


def test_json_stays_json() -> None:
    """Numbers, booleans and null pass; tuples become lists."""
    value = {"a": (1, 2.5, None, True), "b": {"c": []}}
    assert json.loads(json.dumps(Redactor(secrets=[SECRET]).clean(value))) == {
        "a": [1, 2.5, None, True],
        "b": {"c": []},
    }
