"""The concepts of the field as types. Pure: no I/O, waiting, printing or clocks."""
