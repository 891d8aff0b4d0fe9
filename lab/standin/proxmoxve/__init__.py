"""A stand-in for the ``proxmoxve`` provider, and the Proxmox VE behind it as far as a Talos cluster needs one.

Virtual machines (``VmLegacy``), image downloads (``download.File``), pools and PCI mappings. A started virtual machine
whose disk comes from a Talos image becomes a simulated machine at the address of its cloud-init drive.
"""
