-- +goose Up
-- the store adds a message to the index itself: a trigger holds long texts in memory several times
DROP TRIGGER message_text_insert;

-- +goose Down
-- +goose StatementBegin
CREATE TRIGGER message_text_insert AFTER INSERT ON agent_messages WHEN new.role IN ('user', 'assistant') AND new.content <> '' BEGIN
  INSERT INTO message_text (rowid, content) VALUES (new.num, new.content);
END;
-- +goose StatementEnd
