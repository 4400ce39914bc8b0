"""A fleet as one HTML file that needs nothing else: no scripts, fonts, images, network."""
