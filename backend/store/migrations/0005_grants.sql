-- +goose Up
-- what the person has allowed for a session
CREATE TABLE grants (
  session_id TEXT NOT NULL REFERENCES agent_sessions (id) ON DELETE CASCADE,
  owner_id   TEXT NOT NULL,
  class      TEXT NOT NULL,
  object     TEXT NOT NULL,
  folder     TEXT NOT NULL,
  prefix     INTEGER NOT NULL,
  deny       INTEGER NOT NULL,
  used       INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (session_id, class, object, folder, prefix, deny)
) WITHOUT ROWID;

-- +goose Down
DROP TABLE grants;
