"""How many pictures a request may hold, and how large: the numbers are in `providers`."""

from collections import Counter

from agent_plugin.loopback.providers import Provider
from agent_plugin.loopback.refused import invalid
from agent_plugin.loopback.request import Request


def check_images(request: Request, provider: Provider) -> None:
    """Raises Refused for pictures beyond the provider's limits."""
    limits, images = provider.images, request.images
    if images and not limits.at_all:
        raise invalid(
            f"Failed to deserialize the JSON body into the target type: messages[{images[0].message}]: "
            "unknown variant `image_url`, expected `text`"
        )
    if limits.per_request is not None and len(images) > limits.per_request:
        raise invalid(f"messages: too many images: {len(images)} > {limits.per_request}")
    for message, n in Counter(seen.message for seen in images).items():
        if limits.per_message is not None and n > limits.per_message:
            raise invalid(f"messages.{message}: too many images and documents: {n} + 0 > {limits.per_message}")
    is_many = limits.many is not None and len(images) > limits.many
    for seen in images:
        where = f"messages.{seen.message}.content"
        if limits.max_bytes is not None and seen.image.n_bytes > limits.max_bytes:
            raise invalid(f"{where}: image exceeds the maximum: {seen.image.n_bytes} bytes > {limits.max_bytes} bytes")
        if is_many and max(seen.image.size) > limits.many_side:
            raise invalid(
                f"{where}: At least one of the image dimensions exceed max allowed size for many-image requests: "
                f"{limits.many_side} pixels"
            )
