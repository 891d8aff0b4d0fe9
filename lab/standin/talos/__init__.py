"""A stand-in for the ``talos`` provider 0.8.1: what it computes, :mod:`machinery` computes; what it does, it does over
the machine API, in the same order and with the same patience.
"""
