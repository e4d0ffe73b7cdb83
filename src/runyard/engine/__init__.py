"""What happens to a run, in reading order: intake, claim (worker), execute, journal, tail, stream; then cancel,
approvals, reaper and views. The engine decides; stores keep; faces translate."""
