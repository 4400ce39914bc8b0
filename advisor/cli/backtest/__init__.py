"""`advisor backtest`."""
