"""Reads what a receiver of webhooks got from standard input, and routes each delivery with gidgetlab.

Takes the secret token as its argument. Prints one line for each delivery: the event, and the kind and action whose
routes were called. A delivery that is accepted with another token, or without one, ends the program.
"""

import asyncio
import json
import sys

import gidgetlab
from gidgetlab import routing, sansio


def refuses(headers, body, secret):
    try:
        sansio.Event.from_http(headers, body, secret=secret)
        return False
    except gidgetlab.ValidationFailure:
        return True


def route(headers, body, secret):
    """Returns the event, and what the routes of its kind and action said."""
    event = sansio.Event.from_http(headers, body, secret=secret)
    router = routing.Router()
    called = []

    @router.register(headers["x-gitlab-event"])
    async def handle(event):
        called.append(event.data["object_kind"])

    for action in ("open", "create"):

        @router.register(headers["x-gitlab-event"], action=action)
        async def handle_action(event):
            called.append(event.object_attributes["action"])

    asyncio.run(router.dispatch(event))
    return [event.event, *called]


for delivery in json.load(sys.stdin):
    headers, body = delivery["headers"], delivery["text"].encode()
    assert refuses(headers, body, "another token") and refuses(headers, body, None)
    print(" ".join(route(headers, body, sys.argv[1])))
