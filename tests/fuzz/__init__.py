"""Random topologies and patches. `make test` runs few, the same every time; `make fuzz` runs many new ones."""
