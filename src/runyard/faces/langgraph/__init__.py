"""The face for the SDKs of LangGraph (`/langgraph`): agents are assistants, a run is one or more runs of the client."""
