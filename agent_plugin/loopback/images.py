"""Reads a picture from base64: its digest, true type and size. Nothing is fetched and nothing is decoded in full."""

import base64
import binascii
import hashlib
import io
import re

from PIL import Image as Picture
from PIL import UnidentifiedImageError

from agent_plugin.loopback.refused import invalid
from agent_plugin.loopback.request import Image

_DATA_URL = re.compile(r"data:(?P<type>[\w.+-]+/[\w.+-]+);base64,(?P<data>.*)", re.DOTALL)
TYPES = {"JPEG": "image/jpeg", "PNG": "image/png", "GIF": "image/gif", "WEBP": "image/webp"}
"""Pillow's name -> media type, of the four that every provider takes."""


def image_of_url(url: str, param: str | None = None) -> Image:
    """A picture in a data URL. Raises Refused for another URL (nothing is fetched), for bad base64 or no picture."""
    match = _DATA_URL.fullmatch(url)
    if match is None:
        raise invalid(f"Failed to download image from {url[:80]}.", code="invalid_image_url", param=param)
    return image_of(match["data"], match["type"], param)


def image_of(data: str, media_type: str = "", param: str | None = None) -> Image:
    """A picture in base64. Raises Refused when it is none."""
    try:
        raw = base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError) as error:
        raise invalid("Invalid base64 image.", code="invalid_base64", param=param) from error
    try:
        with Picture.open(io.BytesIO(raw), formats=tuple(TYPES)) as picture:
            true_type, size = TYPES[picture.format or ""], picture.size
    except (UnidentifiedImageError, OSError, KeyError, ValueError, Picture.DecompressionBombError) as error:
        raise invalid("Could not process image.", code="invalid_image", param=param) from error
    return Image(hashlib.sha256(raw).hexdigest(), media_type, true_type, len(raw), size)
