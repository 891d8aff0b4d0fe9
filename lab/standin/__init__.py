"""Resource-provider plugins that stand in for the real ones where those cannot be installed.

They are stricter than the real plugins: what the installed SDK does not declare is refused. What they do not imitate
they refuse with a sentence that says so; nothing is answered from thin air.
"""
