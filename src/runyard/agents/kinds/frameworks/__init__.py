"""Shared code of the agents of other frameworks. Each framework has a separate folder: `pydantic_ai/`,
`openai_agents/`.

`run.py` records the work of one execution: requests to models, tool calls, questions to people. `messages.py` has the
values that it exchanges with the runners.
"""
