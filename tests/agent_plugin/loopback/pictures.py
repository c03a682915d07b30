"""Pictures of one colour, as data URLs."""

import base64
import io

from PIL import Image


def picture(color: str, size: tuple[int, int] = (8, 8), kind: str = "JPEG") -> str:
    """A data URL."""
    buffer = io.BytesIO()
    Image.new("RGB", size, color).save(buffer, kind)
    return f"data:image/{kind.lower()};base64,{base64.b64encode(buffer.getvalue()).decode()}"
