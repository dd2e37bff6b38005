"""Reads docs/webhook_payloads.json from standard input and validates each payload with Pydantic models.

Prints one line for each: its name, and the model that the library chose, or `failed`.
"""

import json
import sys

import pydantic_gitlab_webhooks

for name, delivery in json.load(sys.stdin).items():
    try:
        event = pydantic_gitlab_webhooks.validate_event_header_and_body_dict(delivery["event"], delivery["payload"])
        print(f"{name}\t{type(event).__name__}")
    except Exception as error:
        print(f"{name}\tfailed: {error}".replace("\n", " "))
