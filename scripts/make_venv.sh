#!/usr/bin/env bash
# Makes a virtual environment with pip in it: make_venv.sh FOLDER   (PYTHON: the interpreter)
# Debian's Python comes without ensurepip; as root its package is installed, else we say what to ask for.
set -euo pipefail
folder=$1
if [ -x "$folder/bin/python" ] && "$folder/bin/python" -m pip --version >/dev/null 2>&1; then
    exit 0
fi
if ! "$PYTHON" -c 'import ensurepip, venv' 2>/dev/null; then
    package="$(basename "$(readlink -f "$PYTHON")")-venv"
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        echo "installing $package: this Python cannot make virtual environments without it"
        { apt-get install -y -qq "$package" || { apt-get update -qq && apt-get install -y -qq "$package"; }; } >/dev/null
    else
        echo "error: $PYTHON cannot make virtual environments. Ask for the package '$package'" \
            "(Debian, Ubuntu: apt-get install $package)." >&2
        exit 2
    fi
fi
"$PYTHON" -m venv "$folder"
