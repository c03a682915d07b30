"""Says which OpenGL drew. Only after a first render: before it, a headless Blender has no context."""


def in_use() -> dict[str, object]:
    """The GL strings of the context and the files of Mesa and LLVM that are loaded."""
    import gpu

    return {
        "vendor": gpu.platform.vendor_get(),
        "renderer": gpu.platform.renderer_get(),
        "version": gpu.platform.version_get(),
        "libraries": loaded_libraries(("libEGL", "swrast_dri", "libgallium", "libdril", "libLLVM")),
    }


def loaded_libraries(names: tuple[str, ...]) -> list[str]:
    """Files mapped into this process whose name begins with one of `names`."""
    with open("/proc/self/maps") as maps:
        paths = {line.split(maxsplit=5)[5].strip() for line in maps if "/" in line}
    return sorted(path for path in paths if path.rsplit("/", 1)[1].startswith(names))
