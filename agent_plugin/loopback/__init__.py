"""A provider on 127.0.0.1 that plays scripted turns in the wire format of each big model provider.

A test double for the network alone: litellm and mini-swe-agent in between are the real ones. Read in this order:
`request` (what a request says, in one neutral form), `answer` (what is replied), `providers` (what each service
refuses, as data), one module for each wire format with its rules beside it, listed in `formats`, `injected` (faults),
`player` (request in, reply out, no network), `server` (the network), `routes` (how to reach it through litellm).
"""
