"""What runs: sessions, the processes behind them, and the log they write."""
