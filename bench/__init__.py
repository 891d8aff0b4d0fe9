"""Benchmarks of previews and bring-ups in the lab, beside floors that no program on the same engine can be below."""
