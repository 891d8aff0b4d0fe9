"""The only room that makes resources: one ComponentResource a file, assembled in ``cluster.py``."""
