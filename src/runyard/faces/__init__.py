"""One folder per API: `wire` (its words), `translate` (core events to its frames, pure), `routes` (parse, one engine
call, answer). A face decides nothing, and knows no other face."""
