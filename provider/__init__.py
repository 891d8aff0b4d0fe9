"""The project's own provider: what the Talos provider cannot do, as resources whose changes go on after a kill."""
