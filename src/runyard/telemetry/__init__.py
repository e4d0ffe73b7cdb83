"""What the process says about itself: logs and counters now; spans when something exports them."""
