"""One folder per API: `wire` (requests, responses, event names), `translate` (core events to frames; pure), `routes`
(parse, call the engine, respond). A face decides nothing and imports no other face."""
