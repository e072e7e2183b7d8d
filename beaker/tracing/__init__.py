"""The trace a rollout can write to."""
