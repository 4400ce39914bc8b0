"""What holds for all tests."""

import signal

# What is started in the background of a script inherits that Ctrl-C is ignored, and so would every
# program that the tests start and interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)
