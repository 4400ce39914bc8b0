"""Methods replayed against what was recorded: which would have served these paths best?"""
