"""The messages and services of the Talos machine API that this project uses, and what generates Python from them."""
