-- +goose Up
-- what requests beside a run have used, such as the one for a title
CREATE TABLE side_usage (
  session_id TEXT NOT NULL REFERENCES agent_sessions (id) ON DELETE CASCADE,
  owner_id   TEXT NOT NULL,
  purpose    TEXT NOT NULL,
  model      TEXT NOT NULL,
  usage      TEXT NOT NULL,
  created_at INTEGER NOT NULL
);
CREATE INDEX side_usage_by_time ON side_usage (created_at);

-- +goose Down
DROP TABLE side_usage;
