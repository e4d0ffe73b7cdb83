"""The OpenAI face (`/v1`): Responses, Chat Completions, models and conversations. Agents are the models."""
