"""The words of the field as types. Pure: nothing here opens, waits, prints or reads a clock."""
