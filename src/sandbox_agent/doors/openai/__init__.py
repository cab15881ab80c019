"""The API of OpenAI in front of the same sessions: agents appear as models, turns as responses and chat completions."""
