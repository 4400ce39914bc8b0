"""The look of all dialogs."""

DIALOG_CSS = """
    align: center middle;
    #dialog {
        width: 76; max-height: 90%; height: auto;
        background: $surface; border: round $focus; padding: 0 1;
    }
    #dialog Input { margin-bottom: 1; }
    #dialog #answers { height: auto; }
    #dialog #answers Button { margin-right: 1; min-width: 10; height: 1; border: none; }
    #dialog #wrong { color: $failed; height: auto; }
"""
"""The style of all dialogs, to be put between the braces of their own rules."""
