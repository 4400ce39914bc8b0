"""Methods replayed against recorded measurements: which would have served these paths best?"""
