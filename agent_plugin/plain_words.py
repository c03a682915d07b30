"""Durations, costs and counts in words, the same in progress and status."""


def duration(seconds: float) -> str:
    """`45 s`, `3 min 20 s`, `2 h 05 min`, `3 d 4 h`."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02} s"
    if whole < 86_400:
        return f"{whole // 3600} h {whole % 3600 // 60:02} min"
    return f"{whole // 86_400} d {whole % 86_400 // 3600} h"


def about(seconds: float) -> str:
    """A duration without a precision that it does not have."""
    return (
        "less than a minute"
        if seconds < 50
        else f"about {duration(round(seconds / 60 + 0.5) * 60)}".removesuffix(" 00 s")
    )


def dollars(usd: float) -> str:
    """An amount with as many decimals as it takes to see it."""
    if usd >= 10:
        return f"${usd:,.2f}"
    return f"${usd:.4f}" if usd >= 0.001 or not usd else f"${usd:.2g}"


def cost(usd: float, *, is_known: bool) -> str:
    """Not less than that, where some calls did not tell theirs."""
    return dollars(usd) if is_known else f"{dollars(usd)} + unknown" if usd else "unknown"


def count(n: int) -> str:
    """`950`, `12.3 k`, `4.56 M`."""
    if n < 10_000:
        return f"{n}"
    return f"{n / 1e3:.1f} k" if n < 1_000_000 else f"{n / 1e6:.2f} M" if n < 1_000_000_000 else f"{n / 1e9:.2f} G"
