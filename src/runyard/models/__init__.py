"""The models that can be asked: one scripted, and all those that litellm knows."""
