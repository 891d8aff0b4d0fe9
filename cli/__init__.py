"""The command `talos-stacks`: what a person asks of a stack without changing it."""
