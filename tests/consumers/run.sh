#!/usr/bin/env bash
# Reads an exported data set with each consumer's own code: run.sh [NAME…]
# Each has an environment of its own below .consumers/, made from requirements/NAME.txt; NAME.alone.txt names a package
# that is installed without what it asks for (its data code needs little of it).
set -euo pipefail
cd "$(dirname "$0")/../.."
here=tests/consumers
declare -A checks=([datasets-4]=datasets [datasets-5]=datasets [trl]=trl [llamafactory]=llamafactory [harbor]=harbor [nemo-gym]=nemo_gym)
names=("$@")
[ $# -gt 0 ] || names=(datasets-4 datasets-5 trl llamafactory harbor nemo-gym)

python_for() { # harbor and NeMo Gym want 3.12 or newer
    local wanted=("3.11")
    case $1 in harbor | nemo-gym) wanted=("3.12" "3.13") ;; esac
    local found
    for version in "${wanted[@]}"; do
        for found in "python$version" "$(command -v pyenv >/dev/null && ls -d "$(pyenv root)/versions/$version".*/bin/python 2>/dev/null | tail -1)"; do
            if [ -n "$found" ] && "$found" -c 'import ensurepip' 2>/dev/null; then
                echo "$found"
                return
            fi
        done
    done
}

environment() { # make it, unless it is there and made from the same files
    local name=$1 folder=.consumers/$1 python stamp
    stamp=$(cat "$here/requirements/$name".*txt | sha256sum)
    [ "$(cat "$folder/.ready" 2>/dev/null)" = "$stamp" ] && return
    python=$(python_for "$name")
    if [ -z "$python" ]; then
        echo "$name: NOT RUN: it needs a Python that this machine does not have" >&2
        return 1
    fi
    rm -rf "$folder"
    "$python" -m venv "$folder"
    if [ -f "$here/requirements/$name.alone.txt" ]; then
        "$folder/bin/pip" install -q --disable-pip-version-check --no-deps -r "$here/requirements/$name.alone.txt"
    fi
    # pip complains of what a package that was installed alone asks for
    "$folder/bin/pip" install -q --disable-pip-version-check -r "$here/requirements/$name.txt" 2> >(grep -v 'WARNING' >&2)
    echo "$stamp" >"$folder/.ready"
}

PYTHONPATH=. .venv/bin/python -m tests.consumers.make_dataset .consumers/dataset
failed=()
for name in "${names[@]}"; do
    echo "== $name"
    environment "$name" || { failed+=("$name (no environment)"); continue; }
    BLENDSCRIBE_DATASET=.consumers/dataset HF_HUB_OFFLINE=1 PYTHONPATH=$here ".consumers/$name/bin/python" -m pytest -q \
        -c /dev/null --noconftest --rootdir "$here" -p no:cacheprovider "$here/check_${checks[$name]}.py" || failed+=("$name")
done
[ ${#failed[@]} -eq 0 ] || { printf 'failed: %s\n' "${failed[@]}"; exit 1; }
