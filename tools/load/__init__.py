"""Many sessions and many more readers for a while, some slow and some that come and go: what is lost, how late, how much memory."""
