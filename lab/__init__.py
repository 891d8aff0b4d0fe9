"""The world every stack can be rehearsed in: simulated machines, an image factory, stand-ins for what is missing."""
