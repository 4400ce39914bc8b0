"""Mixed files under three loads: HARP's plan, rules of thumb, and classes tuned one by one."""
