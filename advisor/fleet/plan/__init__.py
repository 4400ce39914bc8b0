"""Which pair of a fleet is measured next, and when. Pure: no clock, file, socket or process."""
