"""Programs of other engines that execute runs of Runyard. `docs/scaling.md` says how to start them."""
