"""The destination's side: what it answers, how it is reached, how both sides prove themselves."""
