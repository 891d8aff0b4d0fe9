"""Reads `Pulumi.<stack>.yaml` for all rooms: what the engine hands to the program, and the line of each value.

It needs no engine, credentials or passphrase: what is encrypted stays so, a map with the one key `secure`.
"""

from stackfile.reading import (
    CLUSTER,
    KEYS,
    NoStackError,
    StackFileError,
    Written,
    names,
    path_of,
    read,
    without_cluster,
)
