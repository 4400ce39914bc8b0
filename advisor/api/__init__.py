"""All that a plugin may import of advisor.

`method`, `transport` and `tool` each hold the protocol of one kind of plugin. They share `values`.
`past_transfers`, `network` and `command_line` are building blocks for one kind each.
"""
