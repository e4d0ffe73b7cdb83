"""What the process says about itself: logs now; counters and spans when something exports them."""
