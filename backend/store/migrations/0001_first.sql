-- +goose Up
CREATE TABLE agent_sessions (
  id             TEXT PRIMARY KEY,
  owner_id       TEXT NOT NULL,
  title          TEXT NOT NULL,
  auto_title     INTEGER NOT NULL,
  workspace      TEXT NOT NULL,
  mode           TEXT NOT NULL,
  provider       TEXT NOT NULL,
  model          TEXT NOT NULL,
  system_prompt  TEXT NOT NULL,
  max_iterations INTEGER NOT NULL,
  headless       INTEGER NOT NULL,
  tour           INTEGER NOT NULL,
  seen           INTEGER NOT NULL,
  message_seq    INTEGER NOT NULL DEFAULT 0,
  event_seq      INTEGER NOT NULL DEFAULT 0,
  created_at     INTEGER NOT NULL,
  updated_at     INTEGER NOT NULL,
  deleted_at     INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX agent_sessions_recent ON agent_sessions (owner_id, deleted_at, updated_at DESC);

CREATE TABLE runs (
  id             TEXT PRIMARY KEY,
  owner_id       TEXT NOT NULL,
  session_id     TEXT NOT NULL REFERENCES agent_sessions (id) ON DELETE CASCADE,
  parent_id      TEXT NOT NULL DEFAULT '',
  prompt_id      TEXT NOT NULL,
  state          TEXT NOT NULL,
  reason         TEXT NOT NULL DEFAULT '',
  problem        TEXT NOT NULL DEFAULT '',
  epoch          INTEGER NOT NULL DEFAULT 1,
  next_step      INTEGER NOT NULL DEFAULT 1,
  iteration      INTEGER NOT NULL DEFAULT 0,
  max_iterations INTEGER NOT NULL,
  calls          INTEGER NOT NULL DEFAULT 0,
  usage          TEXT NOT NULL DEFAULT '{}',
  mode           TEXT NOT NULL,
  provider       TEXT NOT NULL DEFAULT '',
  model          TEXT NOT NULL DEFAULT '',
  prompt_version TEXT NOT NULL DEFAULT '',
  tools_hash     TEXT NOT NULL DEFAULT '',
  app_version    TEXT NOT NULL DEFAULT '',
  cancel_at      INTEGER NOT NULL DEFAULT 0,
  wake_at        INTEGER NOT NULL DEFAULT 0,
  created_at     INTEGER NOT NULL,
  started_at     INTEGER NOT NULL DEFAULT 0,
  finished_at    INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX runs_of_session ON runs (session_id, created_at, id);
CREATE INDEX runs_unfinished ON runs (session_id) WHERE state IN ('queued', 'running', 'awaiting_user', 'interrupted');

CREATE TABLE agent_messages (
  num          INTEGER PRIMARY KEY AUTOINCREMENT,
  id           TEXT NOT NULL UNIQUE,
  owner_id     TEXT NOT NULL,
  session_id   TEXT NOT NULL REFERENCES agent_sessions (id) ON DELETE CASCADE,
  run_id       TEXT NOT NULL,
  seq          INTEGER NOT NULL,
  role         TEXT NOT NULL,
  content      TEXT NOT NULL,
  reasoning    TEXT NOT NULL DEFAULT '',
  parts        TEXT NOT NULL DEFAULT '',
  tool_calls   TEXT NOT NULL DEFAULT '',
  tool_call_id TEXT NOT NULL DEFAULT '',
  result       TEXT NOT NULL DEFAULT '',
  model        TEXT NOT NULL DEFAULT '',
  finish       TEXT NOT NULL DEFAULT '',
  usage        TEXT NOT NULL DEFAULT '',
  replay       TEXT NOT NULL DEFAULT '',
  created_at   INTEGER NOT NULL,
  UNIQUE (session_id, seq)
);
CREATE INDEX agent_messages_by_time ON agent_messages (session_id, created_at);
CREATE INDEX agent_messages_of_run ON agent_messages (run_id, seq);

CREATE TABLE steps (
  id          TEXT PRIMARY KEY,
  owner_id    TEXT NOT NULL,
  session_id  TEXT NOT NULL REFERENCES agent_sessions (id) ON DELETE CASCADE,
  run_id      TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  number      INTEGER NOT NULL,
  epoch       INTEGER NOT NULL,
  kind        TEXT NOT NULL,
  state       TEXT NOT NULL,
  message_id  TEXT NOT NULL DEFAULT '',
  call_id     TEXT NOT NULL DEFAULT '',
  name        TEXT NOT NULL DEFAULT '',
  title       TEXT NOT NULL DEFAULT '',
  effect      TEXT NOT NULL DEFAULT '',
  started_at  INTEGER NOT NULL,
  finished_at INTEGER NOT NULL DEFAULT 0,
  UNIQUE (run_id, number)
);
CREATE INDEX steps_open ON steps (run_id, state);
CREATE UNIQUE INDEX steps_of_call ON steps (call_id) WHERE call_id <> '';

CREATE TABLE events (
  session_id TEXT NOT NULL,
  seq        INTEGER NOT NULL,
  owner_id   TEXT NOT NULL,
  run_id     TEXT NOT NULL,
  lane       TEXT NOT NULL DEFAULT '',
  type       TEXT NOT NULL,
  at         INTEGER NOT NULL,
  data       TEXT NOT NULL,
  PRIMARY KEY (session_id, seq)
) WITHOUT ROWID;

CREATE TABLE blobs (
  hash       TEXT PRIMARY KEY,
  owner_id   TEXT NOT NULL,
  name       TEXT NOT NULL,
  media      TEXT NOT NULL,
  size       INTEGER NOT NULL,
  created_at INTEGER NOT NULL
);
CREATE TABLE session_blobs (
  session_id TEXT NOT NULL REFERENCES agent_sessions (id) ON DELETE CASCADE,
  hash       TEXT NOT NULL REFERENCES blobs (hash),
  PRIMARY KEY (session_id, hash)
) WITHOUT ROWID;
CREATE INDEX session_blobs_by_hash ON session_blobs (hash);

-- what people and models said, for full-text search; the trigram tokenizer finds words of every language
CREATE VIRTUAL TABLE message_text USING fts5 (content, content = '', contentless_delete = 1, tokenize = 'trigram');
-- +goose StatementBegin
CREATE TRIGGER message_text_insert AFTER INSERT ON agent_messages WHEN new.role IN ('user', 'assistant') AND new.content <> '' BEGIN
  INSERT INTO message_text (rowid, content) VALUES (new.num, new.content);
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER message_text_delete AFTER DELETE ON agent_messages WHEN old.role IN ('user', 'assistant') AND old.content <> '' BEGIN
  DELETE FROM message_text WHERE rowid = old.num;
END;
-- +goose StatementEnd

-- +goose Down
DROP TABLE message_text;
DROP TABLE session_blobs;
DROP TABLE blobs;
DROP TABLE events;
DROP TABLE steps;
DROP TABLE agent_messages;
DROP TABLE runs;
DROP TABLE agent_sessions;
