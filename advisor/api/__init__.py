"""All that a plugin may import of advisor.

`method`, `transport` and `tool` each hold the protocol of one kind of plugin. They share `values`.
`past_transfers` and `network` are building blocks for methods and transports; the other modules are
for tools.
"""
